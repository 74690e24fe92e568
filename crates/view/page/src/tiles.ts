/**
 * Tiles of charts by level. A tile of level k is 2^k µs long and begins at a multiple of that, so that all
 * windows share tiles. Rows are cut in the same way.
 */

import type { TileAsk } from "./api";
import type { TimeWindow } from "./axis";
import type { Tile } from "./tile";

/** A tile is drawn on 512 to 1024 device pixels and has 1024 columns. */
export const COLUMNS = 1024;
const PIXELS_LEAST = COLUMNS / 2;
const LANES = 1024;
/** 2^52 µs are 142 years. */
const LEVEL_MOST = 52;

export interface Address {
    readonly view: number;
    readonly chart: number;
    /** Exponent of the length of time. */
    readonly level: number;
    readonly index: number;
    /** Exponent of the number of rows. */
    readonly rowLevel: number;
    readonly rowIndex: number;
    readonly beside: number | null;
    readonly as: string | null;
}

export function levelFor(span: number, width: number): number {
    const level = Math.ceil(Math.log2((PIXELS_LEAST * span) / Math.max(width, 1)));
    return Math.min(Math.max(level, 0), LEVEL_MOST);
}

export function rowLevelFor(rows: number, height: number, total: number): number {
    const level = Math.max(0, Math.ceil(Math.log2((PIXELS_LEAST * rows) / Math.max(height, 1))));
    // One tile for all rows has one name only, whatever the height of the chart is.
    return Math.min(level, Math.max(0, Math.ceil(Math.log2(Math.max(total, 1)))) + 4);
}

export const span = (level: number) => 2 ** level;

/** The extent of a tile, and the lanes to ask for. */
export function extent(address: Address, total: number): { from: number; until: number; firstRow: number; rows: number; lanes: number } {
    const length = span(address.level);
    const size = span(address.rowLevel);
    const firstRow = address.rowIndex * size;
    const rows = Math.max(1, Math.min(size, total - firstRow));
    return {
        from: address.index * length,
        until: (address.index + 1) * length,
        firstRow,
        rows,
        lanes: Math.min(LANES, Math.max(16, Math.ceil((LANES * rows) / size))),
    };
}

/** Indices of the tiles of a level that meet a window and the data. */
export function indices(window: TimeWindow, level: number, data: { from: number; until: number }): number[] {
    const length = span(level);
    const first = Math.floor(Math.max(window.origin + Math.floor(window.offset), data.from) / length);
    const last = Math.floor(Math.min(window.origin + Math.ceil(window.offset + window.span), data.until) / length);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

export function rowIndices(first: number, rows: number, rowLevel: number, total: number): number[] {
    const size = span(rowLevel);
    const from = Math.max(0, Math.floor(first / size));
    const until = Math.floor(Math.max(0, Math.min(first + rows, total) - 1e-9) / size);
    return Array.from({ length: Math.max(0, until - from + 1) }, (_, at) => from + at);
}

export function nameOf(address: Address): string {
    const { view, chart, level, index, rowLevel, rowIndex, beside, as } = address;
    return [view, chart, level, index, rowLevel, rowIndex, beside ?? "", as ?? ""].join("|");
}

export const parent = (address: Address): Address => ({ ...address, level: address.level + 1, index: Math.floor(address.index / 2) });
export const child = (address: Address, half: 0 | 1): Address => ({ ...address, level: address.level - 1, index: address.index * 2 + half });

interface Entry {
    tile: Tile | null;
    version: number;
    wanted: number;
    request: AbortController | null;
    failed: number;
    used: number;
}

export type Load = (address: Address, signal: AbortSignal) => Promise<Tile>;

const BYTES_MOST = 192 * 1024 * 1024;
const REQUESTS_MOST = 6;
const ANCESTORS = 14;
const FAILURES_MOST = 3;

/** Keeps the tiles that were used last, and asks for those that are missing or older than the data. */
export class TileCache {
    private readonly entries = new Map<string, Entry>();
    private queue: { name: string; address: Address; version: number }[] = [];
    private running = 0;
    private bytes = 0;
    private frame = 0;
    /** Called with each tile that is thrown away. */
    onDrop: (tile: Tile) => void = () => undefined;

    constructor(
        private readonly load: Load,
        private readonly changed: () => void,
        private readonly bytesMost = BYTES_MOST,
    ) {}

    /** Begins a frame: requests of earlier frames that wait are forgotten. */
    begin(): void {
        this.frame += 1;
        this.queue = [];
    }

    /** The tile if it is here, also an older version; asks for a newer one. */
    get(address: Address, version: number): Tile | null {
        const name = nameOf(address);
        let entry = this.entries.get(name);
        if (!entry) {
            entry = { tile: null, version: -1, wanted: -1, request: null, failed: 0, used: 0 };
            this.entries.set(name, entry);
        }
        entry.used = this.frame;
        if (entry.version !== version && entry.failed < FAILURES_MOST && !(entry.request && entry.wanted === version)) {
            this.queue.push({ name, address, version });
        }
        return entry.tile;
    }

    /** Starts the requests of this frame, and removes the tiles that were used longest ago. */
    end(): void {
        this.pump();
        if (this.bytes > this.bytesMost) this.shrink();
    }

    /** The next coarser tile that covers the same place. */
    ancestor(address: Address): { tile: Tile; address: Address } | null {
        let at = address;
        for (let step = 0; step < ANCESTORS; step += 1) {
            at = parent(at);
            const tile = this.peek(at);
            if (tile) return { tile, address: at };
        }
        return null;
    }

    /** Finer tiles that cover some of the same place. */
    children(address: Address): Tile[] {
        if (address.level < 1) return [];
        const halves = [child(address, 0), child(address, 1)];
        return halves.flatMap((half) => {
            const tile = this.peek(half);
            return tile ? [tile] : [];
        });
    }

    /** Removes the tiles of a view, for example after going back. */
    clear(view: number): void {
        for (const [name, entry] of this.entries) if (name.startsWith(`${view}|`)) this.drop(name, entry);
    }

    get size(): number {
        return this.bytes;
    }

    /** True while a request is under way or waits. */
    get busy(): boolean {
        return this.running > 0 || this.queue.length > 0;
    }

    private peek(address: Address): Tile | null {
        const entry = this.entries.get(nameOf(address));
        if (!entry?.tile) return null;
        entry.used = this.frame;
        return entry.tile;
    }

    private pump(): void {
        while (this.running < REQUESTS_MOST) {
            const next = this.queue.shift();
            if (!next) return;
            const entry = this.entries.get(next.name);
            if (entry) void this.request(entry, next.address, next.version);
        }
    }

    private async request(entry: Entry, address: Address, version: number): Promise<void> {
        entry.request?.abort();
        const request = new AbortController();
        entry.request = request;
        entry.wanted = version;
        this.running += 1;
        try {
            const tile = await this.load(address, request.signal);
            if (entry.request === request) this.keep(entry, tile, version);
        } catch {
            if (entry.request === request) entry.failed += 1;
        } finally {
            if (entry.request === request) entry.request = null;
            this.running -= 1;
            this.pump();
            this.changed();
        }
    }

    private keep(entry: Entry, tile: Tile, version: number): void {
        if (entry.tile) this.forget(entry.tile);
        entry.tile = tile;
        entry.version = version;
        entry.failed = 0;
        this.bytes += tile.buffer.byteLength;
    }

    private forget(tile: Tile): void {
        this.bytes -= tile.buffer.byteLength;
        this.onDrop(tile);
    }

    private drop(name: string, entry: Entry): void {
        entry.request?.abort();
        entry.request = null;
        if (entry.tile) this.forget(entry.tile);
        this.entries.delete(name);
    }

    private shrink(): void {
        const old = [...this.entries].filter(([, entry]) => entry.used < this.frame).sort((a, b) => a[1].used - b[1].used);
        for (const [name, entry] of old) {
            if (this.bytes <= this.bytesMost * 0.8) return;
            this.drop(name, entry);
        }
    }
}

/** The request for a tile of a chart with this many rows. */
export function askOf(address: Address, total: number): TileAsk {
    const { from, until, firstRow, rows, lanes } = extent(address, total);
    return { from, until, columns: COLUMNS, firstRow, rows, lanes, beside: address.beside, as: address.as };
}

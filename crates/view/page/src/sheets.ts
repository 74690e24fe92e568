/**
 * Bitmaps of tiles: a tile is drawn bar by bar once, and its bitmap is moved and stretched while the window
 * moves. When the window rests, bitmaps of another scale are drawn again, a few in each picture.
 */

import type { Painter, Place, Rect, Sheet } from "./painter";
import type { Tile } from "./tile";

interface Entry {
    readonly sheet: Sheet;
    readonly xScale: number;
    readonly yScale: number;
    /** Colours and ratio of pixels. */
    readonly look: string;
    used: number;
}

/** Longest side of a sheet, device pixels. A tile that is larger has few bars, and is drawn bar by bar. */
const SIDE_MOST = 2048;
const BYTES_MOST = 384 * 1024 * 1024;
/** Bars that are drawn in a picture. The first tile is drawn always. */
const BARS_MOVING = 15_000;
const BARS_RESTING = 60_000;
/** Share of a bar's costs that each tile has at least. */
const BARS_LEAST = 500;

export class Sheets {
    private readonly entries = new Map<Tile, Entry>();
    private frame = 0;
    private bytes = 0;
    private room = 0;
    private moving = false;
    private look = "";
    /** True after a picture in which a sheet was missing or stretched. */
    unfinished = false;

    constructor(
        private readonly painter: Painter,
        private readonly bytesMost = BYTES_MOST,
    ) {}

    /** Begins a picture. */
    begin(look: string, moving: boolean): void {
        this.frame += 1;
        this.look = look;
        this.moving = moving;
        this.room = moving ? BARS_MOVING : BARS_RESTING;
        this.unfinished = false;
    }

    /** Draws a tile; false if there was no time to make its first sheet. */
    draw(tile: Tile, place: Place, clip: Rect): boolean {
        const [width, height] = [place.xScale, place.yScale * tile.rows];
        const isLarge = width > SIDE_MOST || height > SIDE_MOST;
        let entry = this.entries.get(tile);
        const isSharp = entry !== undefined && entry.look === this.look && same(entry.xScale, width) && same(entry.yScale * tile.rows, height);
        if (isLarge && !this.moving) {
            this.painter.tile(tile, place, clip);
            return true;
        }
        if (!isSharp && (!entry || !this.moving) && this.room > 0 && !isLarge) entry = this.make(tile, place);
        else if (!isSharp) this.unfinished = true;
        if (!entry) {
            if (isLarge) this.painter.tile(tile, place, clip);
            return isLarge;
        }
        entry.used = this.frame;
        this.painter.lay(entry.sheet, boxOf(entry, tile, place), clip);
        return true;
    }

    /** Ends a picture: removes the sheets that were used longest ago. */
    end(): void {
        if (this.bytes <= this.bytesMost) return;
        const old = [...this.entries].filter(([, entry]) => entry.used < this.frame).sort((a, b) => a[1].used - b[1].used);
        for (const [tile] of old) {
            if (this.bytes <= this.bytesMost * 0.8) return;
            this.forget(tile);
        }
    }

    forget(tile: Tile): void {
        const entry = this.entries.get(tile);
        if (!entry) return;
        this.entries.delete(tile);
        this.bytes -= bytesOf(entry.sheet);
        this.painter.forgetSheet(entry.sheet);
    }

    /** Forgets all, for example after the graphics card has lost them. */
    clear(): void {
        for (const tile of [...this.entries.keys()]) this.forget(tile);
    }

    private make(tile: Tile, { xScale, yScale }: Place): Entry {
        this.forget(tile);
        const entry = { sheet: this.painter.sheet(tile, xScale, yScale), xScale, yScale, look: this.look, used: this.frame };
        this.entries.set(tile, entry);
        this.bytes += bytesOf(entry.sheet);
        this.room -= BARS_LEAST + tile.bars.count;
        return entry;
    }
}

const bytesOf = (sheet: Sheet) => 4 * sheet.width * sheet.height;
/** Lengths that differ by less than half of a pixel. */
const same = (one: number, other: number) => Math.abs(one - other) < 0.5;

/** The box of a sheet: on whole pixels if it is sharp. */
function boxOf({ sheet, xScale, yScale }: Entry, tile: Tile, place: Place): Rect {
    const [x, y] = [place.x0, place.y0 + place.yScale * tile.firstRow];
    const along = same(xScale, place.xScale) ? { x: Math.round(x), width: sheet.width } : { x, width: (sheet.width * place.xScale) / xScale };
    const down = same(yScale * tile.rows, place.yScale * tile.rows) ? { y: Math.round(y), height: sheet.height } : { y, height: (sheet.height * place.yScale) / yScale };
    return { ...along, ...down };
}

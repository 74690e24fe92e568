/** The drawn scene as data, for tests and for tables: bars, marks and promises in CSS pixels of the area. */

import type { Place, Rect } from "./painter";
import type { Drawn, View } from "./stage";
import { MARKS, PROMISES, styleInWords } from "./tile";

export interface SceneBar {
    readonly view: number;
    readonly chart: string;
    readonly job: number;
    readonly row: number;
    readonly rows: number;
    readonly style: number;
    readonly words: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
}

export interface SceneMark {
    readonly view: number;
    readonly chart: string;
    readonly kind: string;
    readonly row: number;
    readonly rows: number;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
}

export interface SceneTick {
    readonly view: number;
    readonly chart: string;
    readonly job: number;
    readonly kind: string;
    readonly row: number;
    readonly x: number;
}

export interface Scene {
    readonly painter: string;
    /** True if each place was drawn from a tile of its own level. */
    readonly complete: boolean;
    readonly window: { readonly origin: number; readonly offset: number; readonly span: number };
    readonly plot: Rect;
    readonly charts: readonly { readonly view: number; readonly name: string; readonly y: number; readonly height: number; readonly firstRow: number; readonly rows: number; readonly density: boolean }[];
    readonly bars: readonly SceneBar[];
    readonly marks: readonly SceneMark[];
    readonly ticks: readonly SceneTick[];
}

interface Boxes {
    readonly start: Float32Array;
    readonly end: Float32Array;
    readonly row: Uint32Array;
    readonly rows: Uint32Array;
}

/** The box of a bar within a tile's clip, CSS pixels; null outside. A piece of a tile is widened by its neighbours' pieces. */
export function boxOf(boxes: Boxes, at: number, place: Place, clip: Rect, ratio: number): Rect | null {
    const left = place.x0 + place.xScale * (boxes.start[at] ?? 0);
    const right = Math.max(place.x0 + place.xScale * (boxes.end[at] ?? 0), left + 1);
    const top = place.y0 + place.yScale * (boxes.row[at] ?? 0);
    const bottom = top + Math.max(place.yScale * (boxes.rows[at] ?? 1), 1);
    const [x, until] = [Math.max(left, clip.x), Math.min(right, clip.x + clip.width)];
    const [y, low] = [Math.max(top, clip.y), Math.min(bottom, clip.y + clip.height)];
    if (until <= x || low <= y) return null;
    return { x: x / ratio, y: y / ratio, width: (until - x) / ratio, height: (low - y) / ratio };
}

interface Piece {
    readonly bar: SceneBar;
    /** True if the bar began before the tile. */
    readonly continues: boolean;
}

/** All bars in sight. Pieces of one bar in neighbouring tiles are one bar again. */
export function bars(drawn: readonly Drawn[], ratio: number): SceneBar[] {
    const groups = new Map<string, Piece[]>();
    for (const { pane, tile, place, clip } of drawn) {
        for (let at = 0; at < tile.bars.count; at += 1) {
            const box = boxOf(tile.bars, at, place, clip, ratio);
            if (!box) continue;
            const [job, row, rows, style] = [tile.bars.job[at] ?? 0, tile.bars.row[at] ?? 0, tile.bars.rows[at] ?? 1, tile.bars.style[at] ?? 0];
            const bar = { view: pane.view, chart: pane.chart.name, job, row, rows, style, words: styleInWords(style), ...box };
            const name = `${pane.view}|${pane.chart.id}|${job}|${row}|${style}`;
            const piece = { bar, continues: (tile.bars.start[at] ?? 0) < 0 };
            const group = groups.get(name);
            if (group) group.push(piece);
            else groups.set(name, [piece]);
        }
    }
    return [...groups.values()].flatMap(joined);
}

function joined(pieces: readonly Piece[]): SceneBar[] {
    const found: SceneBar[] = [];
    for (const { bar, continues } of [...pieces].sort((a, b) => a.bar.x - b.bar.x || a.bar.y - b.bar.y)) {
        const last = found.at(-1);
        if (!last || !(continues || bar.y > last.y) || bar.x > last.x + last.width + 1.5) {
            found.push(bar);
            continue;
        }
        const [x, y] = [Math.min(last.x, bar.x), Math.min(last.y, bar.y)];
        const width = Math.max(last.x + last.width, bar.x + bar.width) - x;
        const height = Math.max(last.y + last.height, bar.y + bar.height) - y;
        found[found.length - 1] = { ...last, x, y, width, height };
    }
    return found;
}

export function sceneOf(drawn: readonly Drawn[], view: View, painter: string): Scene {
    const { ratio } = view;
    const marks = drawn.flatMap(({ pane, tile, place, clip }) =>
        Array.from({ length: tile.marks.count }, (_, at) => {
            const box = boxOf(tile.marks, at, place, clip, ratio);
            const kind = MARKS[tile.marks.kind[at] ?? 0] ?? "";
            return box ? [{ view: pane.view, chart: pane.chart.name, kind, row: tile.marks.row[at] ?? 0, rows: tile.marks.rows[at] ?? 1, ...box }] : [];
        }).flat(),
    );
    const ticks = drawn.flatMap(({ pane, tile, place, clip }) =>
        Array.from({ length: tile.ticks.count }, (_, at) => {
            const x = place.x0 + place.xScale * (tile.ticks.time[at] ?? 0);
            if (x < clip.x || x >= clip.x + clip.width) return [];
            return [{ view: pane.view, chart: pane.chart.name, job: tile.ticks.job[at] ?? 0, kind: PROMISES[tile.ticks.kind[at] ?? 0] ?? "", row: tile.ticks.row[at] ?? 0, x: x / ratio }];
        }).flat(),
    );
    const charts = view.panes.map((pane) => {
        const { first, rows } = view.rows(pane.chart);
        const density = drawn.some((it) => it.pane === pane && it.tile.density !== null);
        return { view: pane.view, name: pane.chart.name, y: pane.body - view.scroll, height: pane.height, firstRow: first, rows, density };
    });
    return {
        painter,
        complete: drawn.length > 0 && drawn.every((it) => it.exact),
        window: view.time,
        plot: { x: view.gutter, y: 0, width: view.width - view.gutter, height: view.height },
        charts,
        bars: bars(drawn, ratio),
        marks,
        ticks,
    };
}

/** Draws the charts in sight from the tiles that are here, and remembers the scene as data. */

import type { Chart } from "./api";
import { position, type Bounds, type TimeWindow } from "./axis";
import type { Pane } from "./layout";
import type { Place, Rect } from "./painter";
import type { Sheets } from "./sheets";
import type { RowWindow } from "./state";
import type { Tile } from "./tile";
import { extent, indices, levelFor, rowIndices, rowLevelFor, type Address, type TileCache } from "./tiles";

export interface View {
    readonly time: TimeWindow;
    readonly bounds: Bounds;
    readonly panes: readonly Pane[];
    readonly rows: (chart: Chart) => RowWindow;
    readonly version: (view: number) => number;
    readonly as: string | null;
    /** Scrolled distance and size of the area, CSS pixels. */
    readonly scroll: number;
    readonly width: number;
    readonly height: number;
    readonly gutter: number;
    readonly ratio: number;
}

/** A tile that was drawn, where, and the part of the screen that it covers (device pixels). */
export interface Drawn {
    readonly pane: Pane;
    readonly tile: Tile;
    readonly place: Place;
    readonly clip: Rect;
    /** False for a coarser or finer tile in place of one that is under way. */
    readonly exact: boolean;
}

/** Draws from sheets; the caller begins and ends the picture. */
export function paint(sheets: Sheets, cache: TileCache, view: View): Drawn[] {
    cache.begin();
    const drawn = view.panes.filter((pane) => pane.height > 0).flatMap((pane) => paintPane(sheets, cache, view, pane));
    cache.end();
    return drawn;
}

/** The area of a chart's bars on the screen, device pixels. */
export function areaOf(pane: Pane, view: View): Rect {
    const { ratio, gutter, scroll, width } = view;
    return { x: gutter * ratio, y: (pane.body - scroll) * ratio, width: Math.max(width - gutter, 1) * ratio, height: pane.height * ratio };
}

/** Rows on the screen: y = y0 + yScale · row. */
export function rowScale(pane: Pane, view: View): { readonly y0: number; readonly yScale: number } {
    const area = areaOf(pane, view);
    const { first, rows } = view.rows(pane.chart);
    const yScale = area.height / rows;
    return { y0: area.y - first * yScale, yScale };
}

function paintPane(sheets: Sheets, cache: TileCache, view: View, pane: Pane): Drawn[] {
    const area = areaOf(pane, view);
    const scale = rowScale(pane, view);
    const { first, rows } = view.rows(pane.chart);
    const total = Math.max(pane.chart.rows, 1);
    const level = levelFor(view.time.span, area.width);
    const rowLevel = rowLevelFor(rows, area.height, total);
    const version = view.version(pane.view);
    // The header of the chart covers the bars that are scrolled below it.
    const top = Math.max(area.y, 0);
    const visible = { ...area, y: top, height: area.y + area.height - top };
    if (visible.height <= 0) return [];
    const found: Drawn[] = [];
    for (const index of indices(view.time, level, view.bounds)) {
        for (const rowIndex of rowIndices(first, rows, rowLevel, total)) {
            const address: Address = { view: pane.view, chart: pane.chart.id, level, index, rowLevel, rowIndex, beside: pane.beside, as: view.as };
            const clip = clipOf(address, total, area, visible, scale, view.time);
            if (!clip) continue;
            const draw = (tile: Tile) => sheets.draw(tile, placeOf(tile), clip);
            const placeOf = (tile: Tile) => ({ ...timeScale(tile.from, tile.until, area, view.time), ...scale });
            const add = (tile: Tile, exact: boolean) => void found.push({ pane, tile, place: placeOf(tile), clip, exact });
            const tile = cache.get(address, version);
            if (tile) {
                add(tile, true);
                if (draw(tile)) continue;
            }
            // Others in its place, until it is here and has a sheet.
            const coarser = cache.ancestor(address);
            const others = coarser ? [coarser.tile] : cache.children(address);
            others.forEach(draw);
            if (!tile) others.forEach((other) => add(other, false));
        }
    }
    return found;
}

function timeScale(from: number, until: number, area: Rect, time: TimeWindow): { readonly x0: number; readonly xScale: number } {
    return { x0: area.x + position(time, from) * area.width, xScale: ((until - from) / time.span) * area.width };
}

function clipOf(address: Address, total: number, area: Rect, visible: Rect, scale: { y0: number; yScale: number }, time: TimeWindow): Rect | null {
    const { from, until, firstRow, rows } = extent(address, total);
    const { x0, xScale } = timeScale(from, until, area, time);
    const left = Math.max(Math.round(x0), area.x);
    const right = Math.min(Math.round(x0 + xScale), area.x + area.width);
    const top = Math.max(Math.round(scale.y0 + scale.yScale * firstRow), visible.y);
    const bottom = Math.min(Math.round(scale.y0 + scale.yScale * (firstRow + rows)), visible.y + visible.height);
    return right > left && bottom > top ? { x: left, y: top, width: right - left, height: bottom - top } : null;
}

export interface Hit {
    readonly pane: Pane;
    readonly job: number | null;
    readonly row: number;
    readonly style: number;
    readonly mark: number;
    /** Start and end as the tile has them: exact to a thousandth of a pixel; null if they lie outside. */
    readonly from: number | null;
    readonly until: number | null;
    /** True where narrow bars hide in a density. */
    readonly dense: boolean;
}

/** The bar at a place of the screen, CSS pixels. */
export function hit(drawn: readonly Drawn[], view: View, x: number, y: number): Hit | null {
    const pane = view.panes.find((it) => y + view.scroll >= it.body && y + view.scroll < it.body + it.height);
    if (!pane || x < view.gutter) return null;
    const [px, py] = [x * view.ratio, y * view.ratio];
    const { y0, yScale } = rowScale(pane, view);
    const row = Math.floor((py - y0) / yScale);
    const empty = { pane, job: null, row, style: 0, mark: 0, from: null, until: null, dense: false };
    const here = drawn.find((it) => it.pane === pane && inside(it.clip, px, py));
    if (!here) return empty;
    const { tile, place } = here;
    const at = (px - place.x0) / place.xScale;
    const pixel = 1 / place.xScale;
    const bar = lastBar(tile, at, pixel, row);
    if (bar !== null) {
        return {
            ...empty,
            job: tile.bars.job[bar] ?? null,
            style: tile.bars.style[bar] ?? 0,
            from: edge(tile, tile.bars.start[bar] ?? 0),
            until: edge(tile, tile.bars.end[bar] ?? 0),
        };
    }
    const mark = lastMark(tile, at, row);
    return { ...empty, mark: mark === null ? 0 : (tile.marks.kind[mark] ?? 0), dense: isDense(tile, at, row) };
}

const inside = (box: Rect, x: number, y: number) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

/** Edges that are clamped lie beyond the tile, and are not known. */
function edge(tile: Tile, share: number): number | null {
    return share <= -1 || share >= 2 ? null : Math.round(tile.from + share * (tile.until - tile.from));
}

function lastBar({ bars }: Tile, at: number, pixel: number, row: number): number | null {
    for (let bar = bars.count - 1; bar >= 0; bar -= 1) {
        const first = bars.row[bar] ?? 0;
        if (row < first || row >= first + (bars.rows[bar] ?? 1)) continue;
        const start = bars.start[bar] ?? 0;
        if (at >= start && at < Math.max(bars.end[bar] ?? 0, start + pixel)) return bar;
    }
    return null;
}

function lastMark({ marks }: Tile, at: number, row: number): number | null {
    for (let mark = marks.count - 1; mark >= 0; mark -= 1) {
        const first = marks.row[mark] ?? 0;
        const rows = row >= first && row < first + (marks.rows[mark] ?? 1);
        if (rows && at >= (marks.start[mark] ?? 0) && at < (marks.end[mark] ?? 0)) return mark;
    }
    return null;
}

function isDense(tile: Tile, at: number, row: number): boolean {
    if (!tile.density) return false;
    const { columns, lanes, busy, lost } = tile.density;
    const column = Math.floor(at * columns);
    const lane = Math.floor(((row + 0.5 - tile.firstRow) / tile.rows) * lanes);
    const cell = lane * columns + column;
    return column >= 0 && column < columns && ((busy[cell] ?? 0) > 0 || (lost[cell] ?? 0) > 0);
}


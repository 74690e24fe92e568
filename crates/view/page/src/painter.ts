/** What both painters draw: tiles, placed and clipped in device pixels, and sheets, the bitmaps of whole tiles. */

import type { Palette } from "./palette";
import type { Tile } from "./tile";

export interface Rect {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
}

/** Pixels of a tile: x = x0 + xScale · share of the tile, y = y0 + yScale · row. */
export interface Place {
    readonly x0: number;
    readonly xScale: number;
    readonly y0: number;
    readonly yScale: number;
}

/** A bitmap of a whole tile. */
export interface Sheet {
    readonly width: number;
    readonly height: number;
}

export interface Painter {
    readonly name: "webgl2" | "canvas";
    /** The plain canvas of the bars, which takes what is below and above them, too: fewer canvases are faster. */
    readonly plain: CanvasRenderingContext2D | null;
    resize(width: number, height: number): void;
    begin(palette: Palette, ratio: number): void;
    tile(tile: Tile, place: Place, clip: Rect): void;
    /** A bitmap of a tile with these pixels for its length and for a row. */
    sheet(tile: Tile, xScale: number, yScale: number): Sheet;
    /** Draws a sheet on a box: sharp if the box has the size of the sheet and whole numbers. */
    lay(sheet: Sheet, box: Rect, clip: Rect): void;
    forgetSheet(sheet: Sheet): void;
    /** Removes what was kept to draw a tile. */
    forgetTile(tile: Tile): void;
}

/** The common part of two rectangles; null if they do not meet. */
export function meet(one: Rect, other: Rect): Rect | null {
    const x = Math.max(one.x, other.x);
    const y = Math.max(one.y, other.y);
    const width = Math.min(one.x + one.width, other.x + other.width) - x;
    const height = Math.min(one.y + one.height, other.y + other.height) - y;
    return width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** After so many CSS pixels, all patterns repeat. */
const PERIOD = 504;

/**
 * The begin of a tile in the patterns, device pixels. Patterns begin at time 0 and row 0: they continue from tile
 * to tile, and move with the bars.
 */
export function phaseOf(tile: Tile, xScale: number, yScale: number, ratio: number): { readonly x: number; readonly y: number } {
    const period = PERIOD * ratio;
    const modulo = (value: number) => ((value % period) + period) % period;
    return { x: modulo((tile.from / (tile.until - tile.from)) * xScale), y: modulo(tile.firstRow * yScale) };
}

/** The place of a tile whose upper left corner is that of its sheet, and the size of the sheet. */
export function onSheet(tile: Tile, xScale: number, yScale: number): Place & { readonly width: number; readonly height: number } {
    return { x0: 0, xScale, y0: -tile.firstRow * yScale, yScale, width: Math.ceil(xScale) + 1, height: Math.ceil(tile.rows * yScale) + 1 };
}

/** What both painters draw: tiles, placed and clipped in device pixels. */

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

export interface Emphasis {
    readonly selected: number | null;
    readonly hovered: number | null;
}

export interface Painter {
    readonly name: "webgl2" | "canvas";
    resize(width: number, height: number): void;
    begin(palette: Palette, emphasis: Emphasis, ratio: number): void;
    tile(tile: Tile, place: Place, clip: Rect): void;
    forget(tile: Tile): void;
}

/** The common part of two rectangles; null if they do not meet. */
export function meet(one: Rect, other: Rect): Rect | null {
    const x = Math.max(one.x, other.x);
    const y = Math.max(one.y, other.y);
    const width = Math.min(one.x + one.width, other.x + other.width) - x;
    const height = Math.min(one.y + one.height, other.y + other.height) - y;
    return width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** A small bar in the look of a style, drawn by the plain painter, so that the legend cannot differ from the chart. */

import { useEffect, useRef } from "preact/hooks";

import { flatPainter } from "./flat";
import type { Tile } from "./tile";
import { palette } from "./theme";

const WIDTH = 44;
const HEIGHT = 18;
const NONE = { count: 0, start: new Float32Array(0), end: new Float32Array(0), row: new Uint32Array(0), rows: new Uint32Array(0) };

interface Look {
    readonly style?: number;
    readonly mark?: number;
    /** Kind of a promise, drawn on a bar. */
    readonly promise?: number;
    /** Share of a shade, 0 to 1. */
    readonly density?: number;
}

export function Swatch(look: Look) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const colours = palette.value;
    const { style, mark, promise, density } = look;
    useEffect(() => {
        const surface = canvas.current;
        if (!surface) return;
        const ratio = Math.min(window.devicePixelRatio || 1, 3);
        surface.width = WIDTH * ratio;
        surface.height = HEIGHT * ratio;
        const painter = flatPainter(surface);
        painter?.begin(colours, ratio);
        const place = { x0: 0, xScale: WIDTH * ratio, y0: 0, yScale: HEIGHT * ratio };
        painter?.tile(tileOf(look), place, { x: 0, y: 0, width: WIDTH * ratio, height: HEIGHT * ratio });
    }, [colours, style, mark, promise, density]);
    return <canvas class="swatch" ref={canvas} style={{ width: `${WIDTH}px`, height: `${HEIGHT}px` }} aria-hidden="true" />;
}

function tileOf({ style, mark, promise, density }: Look): Tile {
    const one = (value: number) => new Uint32Array([value]);
    const whole = { count: 1, start: new Float32Array([0]), end: new Float32Array([1]), row: one(0), rows: one(1) };
    const bar = style ?? (promise === undefined ? undefined : PLAIN);
    return {
        from: 0,
        until: 1,
        firstRow: 0,
        rows: 1,
        bars: bar === undefined ? { ...NONE, job: one(0), style: one(0) } : { ...whole, job: one(0), style: one(bar) },
        marks: mark === undefined ? { ...NONE, kind: one(0) } : { ...whole, kind: one(mark) },
        ticks: promise === undefined ? { ...NONE, time: NONE.start, job: one(0), kind: one(0) } : { ...whole, time: new Float32Array([0.5]), job: one(0), kind: one(promise) },
        density: density === undefined ? null : { columns: 1, lanes: 1, busy: new Uint8Array([255 * density]), lost: new Uint8Array(1) },
        version: 0,
        rowsMost: 0,
        buffer: new ArrayBuffer(0),
        offsets: { bars: 0, marks: 0, ticks: 0 },
    };
}

/** A pale bar without a pattern, from which kinds of bars and promises stand out. */
export const PLAIN = 1 << 8;

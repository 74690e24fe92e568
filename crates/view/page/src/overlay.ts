/** Text and lines around the bars: grid lines, names of bands, numbers on bars, links between the parts of a job. */

import type { Band, Job } from "./api";
import { position } from "./axis";
import { bandsIn } from "./bands";
import type { Pane } from "./layout";
import type { Rect } from "./painter";
import { textOn, mixed, type Palette } from "./palette";
import { areaOf, rowScale, type Drawn, type View } from "./stage";
import { styleOf } from "./tile";
import { ticks } from "./ticks";

const FONT = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const LABELS_MOST = 1500;
/** Least height of a bar with a number, CSS pixels. */
const LABEL_HEIGHT = 12;

/** Below the bars: the grounds of bands and the lines of the time axis. */
export function drawGround(context: CanvasRenderingContext2D, view: View, palette: Palette, bands: (pane: Pane) => readonly Band[]): void {
    const { ratio, width, gutter } = view;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const times = ticks(view.time, width - gutter).ticks;
    for (const pane of view.panes) {
        if (pane.height <= 0) continue;
        const [top, bottom] = [pane.body - view.scroll, pane.body - view.scroll + pane.height];
        context.fillStyle = palette.ground;
        context.fillRect(gutter, top, width - gutter, pane.height);
        drawBands(context, view, pane, palette, bands(pane));
        for (const { time, major } of times) {
            const x = gutter + position(view.time, time) * (width - gutter);
            context.fillStyle = major ? mixed(palette.soft, palette.ground, 0.45) : palette.line;
            context.fillRect(Math.round(x), top, 1, bottom - top);
        }
        context.fillStyle = palette.line;
        context.fillRect(gutter, bottom, width - gutter, 1);
    }
}

function drawBands(context: CanvasRenderingContext2D, view: View, pane: Pane, palette: Palette, bands: readonly Band[]): void {
    if (bands.length === 0) return;
    const { first, rows } = view.rows(pane.chart);
    const [top, bottom] = [pane.body - view.scroll, pane.body - view.scroll + pane.height];
    const pixels = pane.height / rows;
    // Bands of less than a few pixels are not told apart: their grounds would be a grey.
    if (pixels * (pane.chart.rows / bands.length) < 3) return;
    context.fillStyle = palette.band;
    const seen = bandsIn(bands, first, rows);
    const odd = seen[0] ? bands.indexOf(seen[0]) % 2 : 0;
    for (const [at, band] of seen.entries()) {
        if ((at + odd) % 2 === 0) continue;
        const y = Math.max(top + (band.first_row - first) * pixels, top);
        context.fillRect(view.gutter, y, view.width - view.gutter, Math.min(y + band.rows * pixels, bottom) - y);
    }
}

export interface Emphasis {
    readonly selected: number | null;
    readonly hovered: number | null;
}

export interface Over {
    readonly drawn: readonly Drawn[];
    readonly emphasis: Emphasis;
    readonly details: Job | null;
    readonly links: boolean;
    readonly bands: (pane: Pane) => readonly Band[];
    readonly now: number | null;
}

/** Above the bars. */
export function drawOver(context: CanvasRenderingContext2D, view: View, palette: Palette, over: Over): void {
    const { ratio } = view;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = "middle";
    drawEmphasis(context, view, palette, over);
    drawLabels(context, view, palette, over.drawn);
    for (const pane of view.panes) if (pane.height > 0) drawGutter(context, view, pane, palette, over.bands(pane));
    if (over.now !== null) drawNow(context, view, palette, over.now);
    if (over.links && over.details) drawLinks(context, view, palette, over.details);
}

function drawGutter(context: CanvasRenderingContext2D, view: View, pane: Pane, palette: Palette, bands: readonly Band[]): void {
    const { first, rows } = view.rows(pane.chart);
    const top = pane.body - view.scroll;
    const pixels = pane.height / rows;
    context.save();
    context.beginPath();
    context.rect(0, top, view.gutter, pane.height);
    context.clip();
    context.fillStyle = palette.soft;
    context.textAlign = "right";
    const room = view.gutter - 10;
    if (bands.length > 0) {
        let low = Number.NEGATIVE_INFINITY;
        for (const band of bandsIn(bands, first, rows)) {
            const from = Math.max(top + (band.first_row - first) * pixels, top);
            const until = Math.min(top + (band.first_row + band.rows - first) * pixels, top + pane.height);
            const middle = (from + until) / 2;
            // A name that would cover the one before is left out.
            if (middle - low < 12) continue;
            low = middle;
            context.fillText(fitting(context, band.name, room), view.gutter - 6, Math.min(Math.max(middle, top + 6), top + pane.height - 5));
        }
    } else {
        const step = Math.max(1, niceRows((16 * rows) / pane.height));
        for (let row = Math.ceil(first / step) * step; row < first + rows; row += step) {
            const y = top + (row - first) * pixels;
            context.fillText(String(pane.chart.first_number + row), view.gutter - 8, Math.min(Math.max(y + Math.min(pixels / 2, 7), top + 7), top + pane.height - 6));
            context.fillRect(view.gutter - 5, Math.round(y), 5, 1);
        }
    }
    context.restore();
}

/** 1, 2, 4, 8, …: processors come in powers of two. */
const niceRows = (least: number) => 2 ** Math.ceil(Math.log2(Math.max(least, 1)));

function fitting(context: CanvasRenderingContext2D, text: string, room: number): string {
    if (text.length < 60 && context.measureText(text).width <= room) return text;
    let [low, high] = [0, Math.min(text.length, 60)];
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
        else high = middle - 1;
    }
    return `${text.slice(0, low)}…`;
}

/** Frames around the bars of the selected job and of the one below the pointer. */
function drawEmphasis(context: CanvasRenderingContext2D, view: View, palette: Palette, { drawn, emphasis: { selected, hovered } }: Over): void {
    if (selected === null && hovered === null) return;
    const { ratio } = view;
    for (const { tile, place, clip } of drawn) {
        const { count, job, start, end, row, rows } = tile.bars;
        const framed: { readonly job: number; readonly box: Rect }[] = [];
        for (let at = 0; at < count; at += 1) {
            const number = job[at] as number;
            if (number !== selected && number !== hovered) continue;
            const left = place.x0 + place.xScale * (start[at] ?? 0);
            const right = Math.max(place.x0 + place.xScale * (end[at] ?? 0), left + 1);
            const top = place.y0 + place.yScale * (row[at] ?? 0);
            const bottom = top + Math.max(place.yScale * (rows[at] ?? 1), 1);
            framed.push({ job: number, box: { x: left / ratio, y: top / ratio, width: (right - left) / ratio, height: (bottom - top) / ratio } });
        }
        if (framed.length === 0) continue;
        context.save();
        context.beginPath();
        // The frame of a bar in two tiles has no line between them.
        context.rect(clip.x / ratio, clip.y / ratio, clip.width / ratio, clip.height / ratio);
        context.clip();
        for (const { job: number, box } of framed) {
            if (number === selected) frameSelected(context, broad(box), palette);
            else frameHovered(context, broad(box), palette);
        }
        context.restore();
    }
}

/** Least width of an emphasis, CSS pixels: narrower bars would hardly be seen. */
const BROAD = 3;

function broad(box: Rect): Rect {
    const [width, height] = [Math.max(box.width, BROAD), Math.max(box.height, BROAD)];
    return { x: box.x - (width - box.width) / 2, y: box.y - (height - box.height) / 2, width, height };
}

function frameSelected(context: CanvasRenderingContext2D, box: Rect, palette: Palette): void {
    context.fillStyle = palette.ink;
    if (box.width < 5 || box.height < 5) return void context.fillRect(box.x, box.y, box.width, box.height);
    strokeWithin(context, box, 0, 2.5, palette.ink);
    if (box.width > 10 && box.height > 10) strokeWithin(context, box, 2.5, 1.5, palette.ground);
}

function frameHovered(context: CanvasRenderingContext2D, box: Rect, palette: Palette): void {
    context.globalAlpha = 0.15;
    context.fillStyle = palette.ink;
    context.fillRect(box.x, box.y, box.width, box.height);
    context.globalAlpha = 1;
    if (box.width >= 4 && box.height >= 4) strokeWithin(context, box, 0, 2, palette.ink);
}

/** A frame of a width at a distance from the edges of a box. */
function strokeWithin(context: CanvasRenderingContext2D, box: Rect, inset: number, width: number, colour: string): void {
    const at = inset + width / 2;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(box.x + at, box.y + at, box.width - 2 * at, box.height - 2 * at);
}

/** Numbers of jobs on bars that have room for them. */
function drawLabels(context: CanvasRenderingContext2D, view: View, palette: Palette, drawn: readonly Drawn[]): void {
    const { ratio } = view;
    context.textAlign = "center";
    const least = 20 * ratio;
    let count = 0;
    const seen = new Set<string>();
    for (const { pane, tile, place, clip } of drawn) {
        const area = areaOf(pane, view);
        const { bars } = tile;
        const rowPixels = place.yScale;
        // No bar of this tile is high enough for a number.
        if (rowPixels * tile.rowsMost < LABEL_HEIGHT * ratio) continue;
        for (let at = 0; at < bars.count; at += 1) {
            const [start, end] = [bars.start[at] ?? 0, bars.end[at] ?? 0];
            if ((end - start) * place.xScale < least) continue;
            const height = rowPixels * (bars.rows[at] ?? 1);
            if (height < LABEL_HEIGHT * ratio) continue;
            // The tile in which the visible part of the bar begins writes the label.
            const left = Math.max(place.x0 + place.xScale * start, area.x);
            if (left < clip.x - 0.5 || left >= clip.x + clip.width) continue;
            const right = Math.min(place.x0 + place.xScale * end, area.x + area.width);
            const top = Math.max(place.y0 + rowPixels * (bars.row[at] ?? 0), area.y);
            const bottom = Math.min(place.y0 + rowPixels * (bars.row[at] ?? 0) + height, area.y + area.height);
            const text = String(bars.job[at] ?? 0);
            const key = `${pane.top}|${text}|${Math.round(left)}|${Math.round(top)}`;
            if (seen.has(key)) continue;
            const width = context.measureText(text).width + 8;
            if ((right - left) / ratio < width || (bottom - top) / ratio < 11) continue;
            seen.add(key);
            count += 1;
            if (count > LABELS_MOST) return;
            label(context, palette, text, bars.style[at] ?? 0, (left + right) / 2 / ratio, (top + bottom) / 2 / ratio, width);
        }
    }
}

function label(context: CanvasRenderingContext2D, palette: Palette, text: string, bits: number, x: number, y: number, width: number): void {
    const style = styleOf(bits);
    const list = style.difference > 0 ? palette.differences[style.difference] : palette.workloads[style.colour];
    const colour = list ?? palette.soft;
    const pale = style.lost || style.givenUp || style.planned;
    const ground = pale ? palette.ground : colour;
    // A plate of the bar's colour keeps the digits readable over its pattern.
    context.fillStyle = ground;
    context.fillRect(x - width / 2 + 2, y - 6, width - 4, 12);
    context.fillStyle = pale ? palette.ink : textOn(colour);
    context.fillText(text, x, y + 0.5);
}

function drawNow(context: CanvasRenderingContext2D, view: View, palette: Palette, now: number): void {
    const x = view.gutter + position(view.time, now) * (view.width - view.gutter);
    if (x < view.gutter || x > view.width) return;
    context.fillStyle = palette.broken;
    context.fillRect(Math.round(x) - 1, 0, 2, view.height);
}

/** Joins the bars of the selected job: parts that run together from chart to chart, and attempts one after another. */
function drawLinks(context: CanvasRenderingContext2D, view: View, palette: Palette, job: Job): void {
    const points = job.bars
        .flatMap((bar) => {
            const pane = view.panes.find((it) => it.chart.id === bar.chart && !it.second);
            if (!pane) return [];
            const { y0, yScale } = rowScale(pane, view);
            const height = pane.height <= 0;
            const y = height ? pane.top + 13 - view.scroll : (y0 + yScale * (bar.row + bar.rows / 2)) / view.ratio;
            const at = (time: number) => view.gutter + position(view.time, time) * (view.width - view.gutter);
            return [{ from: at(bar.start), until: at(bar.end ?? view.time.origin + view.time.span), y, start: bar.start }];
        })
        .sort((a, b) => a.start - b.start || a.y - b.y);
    if (points.length < 2) return;
    context.save();
    context.beginPath();
    context.rect(view.gutter, 0, view.width - view.gutter, view.height);
    context.clip();
    for (const [width, colour, dash] of [
        [4, palette.ground, []],
        [2, palette.ink, [6, 3]],
    ] as const) {
        context.lineWidth = width;
        context.strokeStyle = colour;
        context.setLineDash([...dash]);
        context.beginPath();
        for (let at = 1; at < points.length; at += 1) {
            const [one, next] = [points[at - 1], points[at]];
            if (!one || !next) continue;
            const together = next.from < one.until;
            const [x1, x2] = [clamped(together ? one.from + 3 : one.until, view), clamped(together ? next.from + 3 : next.from, view)];
            context.moveTo(x1, one.y);
            const bend = together ? -14 : 0;
            context.bezierCurveTo(x1 + bend, one.y + (next.y - one.y) / 3, x2 + bend, one.y + (2 * (next.y - one.y)) / 3, x2, next.y);
        }
        context.stroke();
    }
    context.restore();
}

const clamped = (x: number, view: View) => Math.min(Math.max(x, -4 * view.width), 5 * view.width);


/** Draws tiles on a plain canvas where there is no graphics card. The patterns are the same. */

import { meet, onSheet, phaseOf, type Painter, type Place, type Rect, type Sheet } from "./painter";
import { mixed, rgb, textOn, type Palette } from "./palette";
import { styleOf, type Tile } from "./tile";

type Lines = readonly (readonly [direction: "rising" | "falling" | "level" | "upright", step: number])[];

const PATTERNS: readonly Lines[] = [
    [],
    [["rising", 12]],
    [["level", 9]],
    [
        ["rising", 14],
        ["falling", 14],
    ],
    [["upright", 9]],
    [["falling", 12]],
    [
        ["level", 12],
        ["upright", 12],
    ],
    [["rising", 6]],
];
/** Pattern of each difference. */
const DIFFERENT = [0, 0, 5, 1, 3, 2];

export function flatPainter(canvas: HTMLCanvasElement): Painter | null {
    // Nothing shines through: the browser copies its pixels without a mixture.
    const context = canvas.getContext("2d", { alpha: false });
    return context ? new FlatPainter(context) : null;
}

interface FlatSheet extends Sheet {
    readonly canvas: HTMLCanvasElement;
}

class FlatPainter implements Painter {
    readonly name = "canvas";
    private readonly densities = new Map<Tile, HTMLCanvasElement>();
    private palette!: Palette;
    private ratio = 1;
    /** The canvas, or a sheet while it is drawn. */
    private context: CanvasRenderingContext2D;
    /** From a pixel to its place in the patterns. */
    private shift = { x: 0, y: 0 };

    constructor(readonly plain: CanvasRenderingContext2D) {
        this.context = plain;
    }

    resize(): void {
        // A canvas has its size itself.
    }

    begin(palette: Palette, ratio: number): void {
        if (palette !== this.palette) this.densities.clear();
        this.palette = palette;
        this.ratio = ratio;
        this.plain.setTransform(1, 0, 0, 1, 0, 0);
        this.plain.fillStyle = palette.ground;
        this.plain.fillRect(0, 0, this.plain.canvas.width, this.plain.canvas.height);
    }

    forgetTile(tile: Tile): void {
        this.densities.delete(tile);
    }

    forgetSheet(): void {
        // The browser frees a canvas that nothing refers to.
    }

    tile(tile: Tile, place: Place, clip: Rect): void {
        const { context } = this;
        const phase = phaseOf(tile, place.xScale, place.yScale, this.ratio);
        this.shift = { x: phase.x - place.x0, y: phase.y - place.y0 - place.yScale * tile.firstRow };
        context.save();
        context.beginPath();
        context.rect(clip.x, clip.y, clip.width, clip.height);
        context.clip();
        if (tile.density) this.density(tile, place);
        this.marks(tile, place, clip);
        this.bars(tile, place, clip);
        this.ticks(tile, place);
        context.restore();
    }

    sheet(tile: Tile, xScale: number, yScale: number): FlatSheet {
        const { width, height, ...place } = onSheet(tile, xScale, yScale);
        const canvas = document.createElement("canvas");
        canvas.width = width;
        canvas.height = height;
        const context = canvas.getContext("2d");
        if (context) {
            this.context = context;
            this.tile(tile, place, { x: 0, y: 0, width, height });
            this.context = this.plain;
        }
        return { canvas, width, height };
    }

    lay(sheet: Sheet, box: Rect, clip: Rect): void {
        const seen = meet(box, clip);
        if (!seen) return;
        // The part of the sheet that is in sight: cheaper than a clip.
        const [across, down] = [sheet.width / box.width, sheet.height / box.height];
        this.plain.imageSmoothingEnabled = across !== 1 || down !== 1;
        this.plain.drawImage((sheet as FlatSheet).canvas, (seen.x - box.x) * across, (seen.y - box.y) * down, seen.width * across, seen.height * down, seen.x, seen.y, seen.width, seen.height);
    }

    private density(tile: Tile, place: Place): void {
        const cells = this.densities.get(tile) ?? this.cells(tile);
        const top = place.y0 + place.yScale * tile.firstRow;
        this.context.imageSmoothingEnabled = false;
        this.context.drawImage(cells, place.x0, top, place.xScale, place.yScale * tile.rows);
    }

    private cells(tile: Tile): HTMLCanvasElement {
        const { columns, lanes, busy, lost } = tile.density ?? { columns: 1, lanes: 1, busy: new Uint8Array(1), lost: new Uint8Array(1) };
        const canvas = document.createElement("canvas");
        canvas.width = columns;
        canvas.height = lanes;
        const context = canvas.getContext("2d");
        if (!context) return canvas;
        const image = context.createImageData(columns, lanes);
        const [ground, dense, bad] = [rgb(this.palette.ground), rgb(this.palette.dense), rgb(this.palette.lost)];
        for (let cell = 0; cell < busy.length; cell += 1) {
            const [full, failed] = [(busy[cell] ?? 0) / 255, (lost[cell] ?? 0) / 255];
            if (full === 0 && failed === 0) continue;
            const share = full === 0 ? 0 : 0.12 + 0.88 * full;
            for (const channel of [0, 1, 2] as const) {
                const shade = ground[channel] + (dense[channel] - ground[channel]) * share;
                image.data[4 * cell + channel] = 255 * (shade + (bad[channel] - shade) * failed);
            }
            image.data[4 * cell + 3] = 255;
        }
        context.putImageData(image, 0, 0);
        this.densities.set(tile, canvas);
        return canvas;
    }

    private marks({ marks }: Tile, place: Place, clip: Rect): void {
        const colours = [this.palette.line, this.palette.failure, this.palette.maintenance, this.palette.lost];
        for (let at = 0; at < marks.count; at += 1) {
            const box = boxOf(marks, at, place, clip);
            if (!box) continue;
            const kind = (marks.kind[at] ?? 0) & 3;
            const colour = colours[kind] ?? this.palette.line;
            this.fill(box, mixed(colour, this.palette.ground, 0.28));
            this.lines(box, kind === 2 ? [["falling", 8]] : [["rising", 8]], colour, 2);
            if (kind === 3) this.lines(box, [["falling", 8]], colour, 2);
        }
    }

    private bars({ bars }: Tile, place: Place, clip: Rect): void {
        for (let at = 0; at < bars.count; at += 1) {
            const box = boxOf(bars, at, place, clip);
            if (box) this.bar(box, bars.style[at] ?? 0);
        }
    }

    private bar(box: Rect, bits: number): void {
        const style = styleOf(bits);
        const { palette, ratio } = this;
        const list = style.difference > 0 ? palette.differences[style.difference] : palette.workloads[style.colour];
        const colour = style.lost ? palette.lost : (list ?? palette.soft);
        const pale = style.lost || style.givenUp || style.planned;
        this.fill(box, pale ? mixed(colour, palette.ground, style.planned ? 0.14 : 0.24) : colour);
        const roomy = box.width >= 4 * ratio && box.height >= 4 * ratio;
        if (style.lost) this.lines(box, [["rising", 7]], colour, 2.4);
        else if (style.givenUp) this.lines(box, [["upright", 6]], colour, 2);
        else if (roomy && !style.planned) {
            const number = style.difference > 0 ? (DIFFERENT[style.difference] ?? 0) : style.colour;
            this.lines(box, PATTERNS[number] ?? [], mixed(textOn(colour), colour, 0.38), 1.4);
        }
        if (box.width >= 3 * ratio && box.height >= 3 * ratio) this.frame(box, mixed(palette.ink, colour, style.planned ? 0 : 0.45), style.running);
        if (roomy) this.classOf(style.class, box, textOn(colour));
        if (style.running && box.width > 12 * ratio) this.fade(box);
    }

    /** The rim of a bar; a running one is open at its end. */
    private frame({ x, y, width, height }: Rect, colour: string, open: boolean): void {
        const { ratio } = this;
        this.fill({ x, y, width, height: ratio }, colour);
        this.fill({ x, y: y + height - ratio, width, height: ratio }, colour);
        this.fill({ x, y, width: ratio, height }, colour);
        if (!open) this.fill({ x: x + width - ratio, y, width: ratio, height }, colour);
    }

    /** External jobs have a line along the lower edge, parts a second frame, reservations a dashed one. */
    private classOf(number: number, { x, y, width, height }: Rect, colour: string): void {
        const { context, ratio } = this;
        if (number === 1 && height >= 7 * ratio) this.fill({ x, y: y + height - 3 * ratio, width, height: 2 * ratio }, colour);
        if (number !== 3 && number !== 5) return;
        const inset = number === 3 ? 2.5 * ratio : ratio;
        if (width <= 2 * inset || height <= 2 * inset) return;
        context.save();
        context.strokeStyle = number === 3 ? colour : this.palette.ground;
        context.lineWidth = number === 3 ? ratio : 2 * ratio;
        context.setLineDash(number === 3 ? [] : [3 * ratio, 3 * ratio]);
        context.strokeRect(x + inset, y + inset, width - 2 * inset, height - 2 * inset);
        context.restore();
    }

    /** The end of a running bar is not known. */
    private fade({ x, y, width, height }: Rect): void {
        const { context, ratio, palette } = this;
        for (let at = 0; at < 6; at += 1) {
            context.globalAlpha = 0.6 * (1 - at / 6);
            this.fill({ x: x + width - (at + 1) * ratio, y, width: ratio, height }, palette.ground);
        }
        context.globalAlpha = 1;
    }

    private ticks({ ticks }: Tile, place: Place): void {
        const { context, palette, ratio } = this;
        for (let at = 0; at < ticks.count; at += 1) {
            const x = place.x0 + place.xScale * (ticks.time[at] ?? 0);
            const y = place.y0 + place.yScale * (ticks.row[at] ?? 0);
            const height = Math.max(place.yScale * (ticks.rows[at] ?? 1), 1);
            const kind = ticks.kind[at] ?? 3;
            context.fillStyle = kind === 1 ? palette.kept : kind === 2 ? palette.broken : palette.soft;
            if (kind === 1) triangle(context, x, y, Math.min(6 * ratio, height / 2));
            else context.fillRect(x - ratio, y, 2 * ratio, height);
            if (kind === 2) this.lines({ x: x - 4 * ratio, y: y + height / 2 - 4 * ratio, width: 8 * ratio, height: 8 * ratio }, [["rising", 8], ["falling", 8]], palette.broken, 1.4);
        }
    }

    private fill(box: Rect, colour: string): void {
        this.context.fillStyle = colour;
        this.context.fillRect(box.x, box.y, box.width, box.height);
    }

    private lines(box: Rect, lines: Lines, colour: string, width: number): void {
        const { context, ratio } = this;
        if (lines.length === 0 || box.width < 2 || box.height < 2) return;
        context.save();
        context.beginPath();
        context.rect(box.x, box.y, box.width, box.height);
        context.clip();
        context.beginPath();
        const [right, bottom] = [box.x + box.width, box.y + box.height];
        const { x, y } = this.shift;
        for (const [direction, distance] of lines) {
            const step = distance * ratio;
            const [low, high, shift] =
                direction === "rising"
                    ? [box.x + box.y, right + bottom, x + y]
                    : direction === "falling"
                      ? [box.x - bottom, right - box.y, x - y]
                      : direction === "level"
                        ? [box.y, bottom, y]
                        : [box.x, right, x];
            for (let at = Math.floor((low + shift) / step) * step - shift; at <= high; at += step) {
                if (direction === "rising") context.moveTo(at - box.y, box.y), context.lineTo(at - bottom, bottom);
                else if (direction === "falling") context.moveTo(at + box.y, box.y), context.lineTo(at + bottom, bottom);
                else if (direction === "level") context.moveTo(box.x, at), context.lineTo(right, at);
                else context.moveTo(at, box.y), context.lineTo(at, bottom);
            }
        }
        context.strokeStyle = colour;
        context.lineWidth = width * ratio;
        context.stroke();
        context.restore();
    }
}

interface Boxes {
    readonly start: Float32Array;
    readonly end: Float32Array;
    readonly row: Uint32Array;
    readonly rows: Uint32Array;
}

/** The part of a bar or mark that is seen, on whole pixels; null outside. */
function boxOf(boxes: Boxes, at: number, place: Place, clip: Rect): Rect | null {
    const x = Math.round(place.x0 + place.xScale * (boxes.start[at] ?? 0));
    const width = Math.max(Math.round(place.x0 + place.xScale * (boxes.end[at] ?? 0)) - x, 1);
    const y = Math.round(place.y0 + place.yScale * (boxes.row[at] ?? 0));
    const height = Math.max(Math.round(place.y0 + place.yScale * ((boxes.row[at] ?? 0) + (boxes.rows[at] ?? 1))) - y, 1);
    // A bar that begins far outside must not make its pattern long.
    const wide = { x: clip.x - 8, y: clip.y - 8, width: clip.width + 16, height: clip.height + 16 };
    return meet({ x, y, width, height }, wide);
}

/** A kept promise, at the upper edge of a bar. */
function triangle(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
    context.beginPath();
    context.moveTo(x - size * 0.6, y);
    context.lineTo(x + size * 0.6, y);
    context.lineTo(x, y + size);
    context.fill();
}

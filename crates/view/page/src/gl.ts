/** Draws tiles on the graphics card: one call for all bars of a tile, from the bytes of the server. */

import { meet, onSheet, phaseOf, type Painter, type Place, type Rect, type Sheet } from "./painter";
import { rgb, type Palette } from "./palette";
import { BOXES, COPY, FILL, SHADES, SHEET } from "./shaders";
import type { Density, Tile } from "./tile";

interface Upload {
    readonly buffer: WebGLBuffer;
    readonly arrays: readonly { readonly array: WebGLVertexArrayObject; readonly count: number; readonly mode: number }[];
    readonly textures: readonly WebGLTexture[];
}

interface GlSheet extends Sheet {
    readonly texture: WebGLTexture;
}

const NAMES = ["a_start", "a_end", "a_row", "a_rows", "a_style"] as const;

const SETTINGS: WebGLContextAttributes = { alpha: true, antialias: false, depth: false };

/** Names of cards that are emulated: copies on a plain canvas are faster there. */
const EMULATED = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function isEmulated(gl: WebGL2RenderingContext): boolean {
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    return EMULATED.test(String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER)));
}

/**
 * Null without WebGL2, and with an emulated card unless `emulated` is set. A canvas that has had one kind of
 * context cannot have another, so that a second canvas is tried first.
 */
export function glPainter(canvas: HTMLCanvasElement, emulated: boolean, changed: () => void): Painter | null {
    const trial = document.createElement("canvas").getContext("webgl2", SETTINGS) as WebGL2RenderingContext | null;
    if (!trial) return null;
    try {
        if (!emulated && isEmulated(trial)) return null;
        void new GlPainter(trial);
    } catch (cause) {
        console.warn(cause);
        return null;
    } finally {
        trial.getExtension("WEBGL_lose_context")?.loseContext();
    }
    const gl = canvas.getContext("webgl2", SETTINGS) as WebGL2RenderingContext | null;
    if (!gl) return null;
    const painter = new GlPainter(gl);
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
        painter.renew();
        changed();
    });
    return painter;
}

class GlPainter implements Painter {
    readonly name = "webgl2";
    readonly plain = null;
    private boxes!: WebGLProgram;
    private shades!: WebGLProgram;
    private copy!: WebGLProgram;
    private target!: WebGLFramebuffer;
    private readonly uploads = new Map<Tile, Upload>();
    private readonly places = new Map<string, WebGLUniformLocation | null>();
    private nothing!: WebGLVertexArrayObject;
    private height = 1;
    private width = 1;
    private ratio = 1;

    constructor(private readonly gl: WebGL2RenderingContext) {
        this.renew();
    }

    /** Makes all objects of the context, also after it was lost. */
    renew(): void {
        this.uploads.clear();
        this.places.clear();
        this.boxes = program(this.gl, BOXES, FILL);
        this.shades = program(this.gl, SHEET, SHADES);
        this.copy = program(this.gl, SHEET, COPY);
        this.target = this.gl.createFramebuffer();
        this.nothing = this.gl.createVertexArray();
    }

    resize(width: number, height: number): void {
        this.width = width;
        this.height = height;
    }

    begin(palette: Palette, ratio: number): void {
        const { gl } = this;
        this.ratio = ratio;
        gl.disable(gl.SCISSOR_TEST);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT);
        gl.enable(gl.SCISSOR_TEST);
        for (const each of [this.boxes, this.shades]) {
            gl.useProgram(each);
            gl.uniform1f(this.place(each, "u_ratio"), ratio);
            gl.uniform3fv(this.place(each, "u_ground"), rgb(palette.ground));
            gl.uniform3fv(this.place(each, "u_lost"), rgb(palette.lost));
        }
        gl.uniform3fv(this.place(this.shades, "u_dense"), rgb(palette.dense));
        gl.uniform1i(this.place(this.shades, "u_busy"), 0);
        gl.uniform1i(this.place(this.shades, "u_lostCells"), 1);
        gl.useProgram(this.copy);
        gl.uniform1i(this.place(this.copy, "u_sheet"), 0);
        gl.useProgram(this.boxes);
        gl.uniform3fv(this.place(this.boxes, "u_ink"), rgb(palette.ink));
        gl.uniform3fv(this.place(this.boxes, "u_workloads[0]"), palette.workloads.flatMap(rgb));
        gl.uniform3fv(this.place(this.boxes, "u_differences[0]"), palette.differences.flatMap(rgb));
        gl.uniform3fv(this.place(this.boxes, "u_marks[0]"), [palette.line, palette.failure, palette.maintenance, palette.lost].flatMap(rgb));
        gl.uniform3fv(this.place(this.boxes, "u_promises[0]"), [palette.soft, palette.kept, palette.broken, palette.soft].flatMap(rgb));
        this.onto(this.width, this.height);
    }

    tile(tile: Tile, place: Place, clip: Rect): void {
        if (this.cut(clip)) this.draw(tile, place);
    }

    sheet(tile: Tile, xScale: number, yScale: number): GlSheet {
        const { gl } = this;
        const { width, height, ...place } = onSheet(tile, xScale, yScale);
        const texture = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, width, height);
        for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, wrap, gl.CLAMP_TO_EDGE);
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
        gl.disable(gl.SCISSOR_TEST);
        gl.clear(gl.COLOR_BUFFER_BIT);
        this.onto(width, height);
        this.draw(tile, place);
        gl.enable(gl.SCISSOR_TEST);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        this.onto(this.width, this.height);
        return { texture, width, height };
    }

    lay(sheet: Sheet, box: Rect, clip: Rect): void {
        const { gl } = this;
        if (!this.cut(clip)) return;
        gl.useProgram(this.copy);
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, (sheet as GlSheet).texture);
        const filter = box.width === sheet.width && box.height === sheet.height ? gl.NEAREST : gl.LINEAR;
        for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, filter);
        gl.uniform4f(this.place(this.copy, "u_box"), box.x, box.y, box.x + box.width, box.y + box.height);
        gl.bindVertexArray(this.nothing);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }

    forgetSheet(sheet: Sheet): void {
        this.gl.deleteTexture((sheet as GlSheet).texture);
    }

    forgetTile(tile: Tile): void {
        const upload = this.uploads.get(tile);
        if (!upload) return;
        this.uploads.delete(tile);
        this.gl.deleteBuffer(upload.buffer);
        upload.arrays.forEach(({ array }) => this.gl.deleteVertexArray(array));
        upload.textures.forEach((texture) => this.gl.deleteTexture(texture));
    }

    /** Draws on a canvas or a sheet of this size. */
    private onto(width: number, height: number): void {
        const { gl } = this;
        gl.viewport(0, 0, width, height);
        for (const each of [this.boxes, this.shades, this.copy]) {
            gl.useProgram(each);
            gl.uniform2f(this.place(each, "u_canvas"), width, height);
        }
    }

    /** Draws within a part of the canvas; false if it is out of sight. */
    private cut(clip: Rect): boolean {
        const seen = meet(clip, { x: 0, y: 0, width: this.width, height: this.height });
        if (!seen) return false;
        const [left, right] = [Math.round(seen.x), Math.round(seen.x + seen.width)];
        const [top, bottom] = [Math.round(seen.y), Math.round(seen.y + seen.height)];
        this.gl.scissor(left, this.height - bottom, right - left, bottom - top);
        return true;
    }

    private draw(tile: Tile, place: Place): void {
        const { gl } = this;
        const upload = this.uploads.get(tile) ?? this.upload(tile);
        const phase = phaseOf(tile, place.xScale, place.yScale, this.ratio);
        const shift = [phase.x - place.x0, phase.y - place.y0 - place.yScale * tile.firstRow] as const;
        if (upload.textures.length > 0) this.density(tile, upload, place, shift);
        gl.useProgram(this.boxes);
        gl.uniform4f(this.place(this.boxes, "u_place"), place.x0, place.xScale, place.y0, place.yScale);
        gl.uniform2f(this.place(this.boxes, "u_shift"), ...shift);
        for (const { array, count, mode } of upload.arrays) {
            gl.uniform1i(this.place(this.boxes, "u_mode"), mode);
            gl.bindVertexArray(array);
            gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
        }
        gl.bindVertexArray(null);
    }

    private density(tile: Tile, upload: Upload, place: Place, shift: readonly [number, number]): void {
        const { gl } = this;
        gl.useProgram(this.shades);
        gl.uniform2f(this.place(this.shades, "u_shift"), ...shift);
        upload.textures.forEach((texture, unit) => {
            gl.activeTexture(gl.TEXTURE0 + unit);
            gl.bindTexture(gl.TEXTURE_2D, texture);
        });
        const top = place.y0 + place.yScale * tile.firstRow;
        gl.uniform4f(this.place(this.shades, "u_box"), place.x0, top, place.x0 + place.xScale, top + place.yScale * tile.rows);
        gl.bindVertexArray(this.nothing);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }

    private upload(tile: Tile): Upload {
        const { gl } = this;
        const buffer = gl.createBuffer();
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, tile.buffer, gl.STATIC_DRAW);
        const { bars, marks, ticks, offsets } = tile;
        const tables = [
            { mode: 1, count: marks.count, from: offsets.marks, columns: [0, 1, 2, 3, 4] },
            { mode: 0, count: bars.count, from: offsets.bars, columns: [0, 1, 2, 3, 5] },
            { mode: 2, count: ticks.count, from: offsets.ticks, columns: [0, 0, 1, 2, 4] },
        ];
        const arrays = tables.filter(({ count }) => count > 0).map(({ mode, count, from, columns }) => ({ mode, count, array: this.columns(from, count, columns) }));
        const upload = { buffer, arrays, textures: tile.density ? this.textures(tile.density) : [] };
        this.uploads.set(tile, upload);
        return upload;
    }

    private columns(from: number, count: number, columns: readonly number[]): WebGLVertexArrayObject {
        const { gl } = this;
        const array = gl.createVertexArray();
        gl.bindVertexArray(array);
        NAMES.forEach((name, at) => {
            const slot = gl.getAttribLocation(this.boxes, name);
            const column = columns[at];
            if (slot < 0 || column === undefined) return;
            const offset = from + 4 * count * column;
            gl.enableVertexAttribArray(slot);
            gl.vertexAttribDivisor(slot, 1);
            if (at < 2) gl.vertexAttribPointer(slot, 1, gl.FLOAT, false, 4, offset);
            else gl.vertexAttribIPointer(slot, 1, gl.UNSIGNED_INT, 4, offset);
        });
        gl.bindVertexArray(null);
        return array;
    }

    private textures({ columns, lanes, busy, lost }: Density): WebGLTexture[] {
        const { gl } = this;
        gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
        return [busy, lost].map((cells) => {
            const texture = gl.createTexture();
            gl.bindTexture(gl.TEXTURE_2D, texture);
            gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, columns, lanes, 0, gl.RED, gl.UNSIGNED_BYTE, cells);
            for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
            for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, wrap, gl.CLAMP_TO_EDGE);
            return texture;
        });
    }

    private place(of: WebGLProgram, name: string): WebGLUniformLocation | null {
        const key = `${of === this.boxes ? "boxes" : of === this.shades ? "shades" : "copy"}.${name}`;
        let found = this.places.get(key);
        if (found === undefined) {
            found = this.gl.getUniformLocation(of, name);
            this.places.set(key, found);
        }
        return found;
    }
}

function program(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
    const made = gl.createProgram();
    for (const [kind, source] of [
        [gl.VERTEX_SHADER, vertex],
        [gl.FRAGMENT_SHADER, fragment],
    ] as const) {
        const shader = gl.createShader(kind);
        if (!shader) throw new Error("the context is lost");
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "a shader cannot be compiled");
        gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? "a program cannot be linked");
    return made;
}

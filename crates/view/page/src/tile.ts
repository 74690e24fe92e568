/** A tile of a chart as the server sends it: columns of bars, marks and ticks, and a density for narrow bars. */

const MAGIC = 0x31544748; // "HGT1"
const HEADER = 64;

export interface Bars {
    readonly count: number;
    /** 0 = left edge of the tile, 1 = right edge. */
    readonly start: Float32Array;
    readonly end: Float32Array;
    readonly row: Uint32Array;
    readonly rows: Uint32Array;
    readonly job: Uint32Array;
    readonly style: Uint32Array;
}

export interface Marks {
    readonly count: number;
    readonly start: Float32Array;
    readonly end: Float32Array;
    readonly row: Uint32Array;
    readonly rows: Uint32Array;
    readonly kind: Uint32Array;
}

export interface Promises {
    readonly count: number;
    readonly time: Float32Array;
    readonly row: Uint32Array;
    readonly rows: Uint32Array;
    readonly job: Uint32Array;
    readonly kind: Uint32Array;
}

export interface Density {
    readonly columns: number;
    readonly lanes: number;
    /** Share of each cell, 0 to 255. */
    readonly busy: Uint8Array;
    readonly lost: Uint8Array;
}

export interface Tile {
    readonly from: number;
    readonly until: number;
    readonly firstRow: number;
    readonly rows: number;
    readonly bars: Bars;
    readonly marks: Marks;
    readonly ticks: Promises;
    readonly density: Density | null;
    readonly version: number;
    /** Most rows of a bar, for an early end of the search for labels. */
    readonly rowsMost: number;
    /** All bytes as received: a card can take the columns without a copy. */
    readonly buffer: ArrayBuffer;
    readonly offsets: { readonly bars: number; readonly marks: number; readonly ticks: number };
}

export function readTile(buffer: ArrayBuffer): Tile {
    if (buffer.byteLength < HEADER) throw new Error("a tile is cut: the header is missing");
    const view = new DataView(buffer);
    const u32 = (at: number) => view.getUint32(at, true);
    if (u32(0) !== MAGIC) throw new Error("not a tile: the page and the server differ in version");
    const [columns, lanes, firstRow] = [u32(4), u32(8), u32(12)];
    const [rows, bars, marks, ticks] = [u32(32), u32(36), u32(40), u32(44)];
    const hasDensity = u32(48) !== 0;
    const offsets = { bars: HEADER, marks: HEADER + 24 * bars, ticks: HEADER + 24 * bars + 20 * marks };
    const end = offsets.ticks + 20 * ticks;
    const needed = end + (hasDensity ? 2 * columns * lanes : 0);
    if (buffer.byteLength < needed) throw new Error(`a tile is cut: ${buffer.byteLength} of ${needed} bytes`);
    const floats = (from: number, count: number, column: number) => new Float32Array(buffer, from + 4 * count * column, count);
    const words = (from: number, count: number, column: number) => new Uint32Array(buffer, from + 4 * count * column, count);
    return {
        from: view.getFloat64(16, true),
        until: view.getFloat64(24, true),
        firstRow,
        rows,
        bars: {
            count: bars,
            start: floats(offsets.bars, bars, 0),
            end: floats(offsets.bars, bars, 1),
            row: words(offsets.bars, bars, 2),
            rows: words(offsets.bars, bars, 3),
            job: words(offsets.bars, bars, 4),
            style: words(offsets.bars, bars, 5),
        },
        marks: {
            count: marks,
            start: floats(offsets.marks, marks, 0),
            end: floats(offsets.marks, marks, 1),
            row: words(offsets.marks, marks, 2),
            rows: words(offsets.marks, marks, 3),
            kind: words(offsets.marks, marks, 4),
        },
        ticks: {
            count: ticks,
            time: floats(offsets.ticks, ticks, 0),
            row: words(offsets.ticks, ticks, 1),
            rows: words(offsets.ticks, ticks, 2),
            job: words(offsets.ticks, ticks, 3),
            kind: words(offsets.ticks, ticks, 4),
        },
        density: hasDensity
            ? {
                  columns,
                  lanes,
                  busy: new Uint8Array(buffer, end, columns * lanes),
                  lost: new Uint8Array(buffer, end + columns * lanes, columns * lanes),
              }
            : null,
        version: Number(view.getBigUint64(56, true)),
        rowsMost: words(offsets.bars, bars, 3).reduce((most, rows) => Math.max(most, rows), 0),
        buffer,
        offsets,
    };
}

/** Words for the low four bits of a style. */
export const CLASSES = ["local job", "external job", "task of a grid", "part of a job on several providers", "share of a bag", "reservation"];
/** Words for bits 8 to 10 of a style. */
export const DIFFERENCES = ["not compared", "same", "earlier", "later", "at another provider", "only here"];
/** Words for kinds of marks. */
export const MARKS = ["", "failure", "maintenance", "crash"];
/** Words for the flags of a style, by their bits. */
export const FLAGS: ReadonlyMap<number, string> = new Map([
    [16, "lost attempt"],
    [32, "running"],
    [64, "planned"],
    [128, "given up"],
]);
/** Words for kinds of promises. */
export const PROMISES = ["", "kept", "broken", "open"];

export interface Style {
    readonly class: number;
    readonly lost: boolean;
    readonly running: boolean;
    readonly planned: boolean;
    readonly givenUp: boolean;
    readonly difference: number;
    readonly colour: number;
}

export function styleOf(bits: number): Style {
    return {
        class: bits & 15,
        lost: (bits & 16) !== 0,
        running: (bits & 32) !== 0,
        planned: (bits & 64) !== 0,
        givenUp: (bits & 128) !== 0,
        difference: (bits >> 8) & 7,
        colour: (bits >> 16) & 7,
    };
}

/** A style in words, for tables and tests. */
export function styleInWords(bits: number): string {
    const style = styleOf(bits);
    const words = [CLASSES[style.class] ?? "bar"];
    for (const [bit, word] of FLAGS) if ((bits & bit) !== 0) words.push(word);
    if (style.difference > 1) words.push(DIFFERENCES[style.difference] ?? "");
    return words.join(", ");
}

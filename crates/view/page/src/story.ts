/** Lines of a story in which aligned columns are tables again. */

export interface StoryLine {
    readonly time: number | null;
    readonly text: string;
}

export interface StoryTable {
    readonly head: readonly string[];
    readonly rows: readonly (readonly string[])[];
    /** True for columns of numbers, which end at one place. */
    readonly numeric: readonly boolean[];
}

export type StoryPart = { readonly line: StoryLine } | { readonly table: StoryTable };

/** A row begins with two blanks, and has two or more between its cells. */
const isRow = ({ time, text }: StoryLine) => time === null && /^ {2,}\S.* {2,}\S/.test(text);

export function partsOf(lines: readonly StoryLine[]): StoryPart[] {
    const parts: StoryPart[] = [];
    for (let at = 0; at < lines.length; ) {
        let end = at;
        while (end < lines.length && isRow(lines[end] as StoryLine)) end += 1;
        if (end - at >= 2) {
            parts.push({ table: tableOf(lines.slice(at, end).map((it) => it.text)) });
            at = end;
            continue;
        }
        const line = lines[at] as StoryLine;
        // Empty lines are there for terminals.
        if (line.text.trim() !== "") parts.push({ line });
        at += 1;
    }
    return parts;
}

/** Columns are apart where two or more places are blank in all lines. */
function tableOf(texts: readonly string[]): StoryTable {
    const lines = texts.map((text) => [...text]);
    const width = Math.max(...lines.map((it) => it.length));
    const isBlank = (at: number) => lines.every((line) => (line[at] ?? " ") === " ");
    const columns: { from: number; until: number }[] = [];
    let blanks = 2;
    for (let at = 0; at < width; at += 1) {
        if (isBlank(at)) blanks += 1;
        else {
            const last = columns.at(-1);
            if (blanks >= 2 || !last) columns.push({ from: at, until: at + 1 });
            else last.until = at + 1;
            blanks = 0;
        }
    }
    const [head = [], ...rows] = lines.map((line) => columns.map(({ from, until }) => line.slice(from, until).join("").trim()));
    return { head, rows, numeric: columns.map((_, at) => rows.some((row) => row[at] !== "") && rows.every((row) => /^(|[-+]?[\d.]+( ?%| s)?)$/.test(row[at] ?? ""))) };
}

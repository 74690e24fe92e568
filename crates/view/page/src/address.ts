/** The state of the page in the fragment of its address, so that a view can be sent. */

export interface Shown {
    readonly view: number;
    readonly beside: number | null;
    /** Left edge (whole µs and a part) and length; null fits all of the data. */
    readonly time: { readonly origin: number; readonly offset: number; readonly span: number } | null;
    readonly job: number | null;
    readonly interval: { readonly from: number; readonly until: number } | null;
    readonly filter: string;
    readonly sort: string;
    /** The row at the top of the table of jobs. */
    readonly row: number;
    readonly as: string | null;
    readonly tab: string;
    readonly closed: readonly number[];
    /** Rows shown of charts that are zoomed: chart, first row, rows. */
    readonly rows: readonly (readonly [number, number, number])[];
}

export const NOTHING: Shown = {
    view: 0,
    beside: null,
    time: null,
    job: null,
    interval: null,
    filter: "",
    sort: "",
    row: 0,
    as: null,
    tab: "",
    closed: [],
    rows: [],
};

/** Rows need no more digits. */
const short = (number: number) => String(Number(number.toFixed(4)));

export function write(shown: Shown): string {
    const pairs = new URLSearchParams();
    const put = (name: string, value: string | number | null) => {
        if (value !== null && value !== "") pairs.set(name, String(value));
    };
    put("v", shown.view === 0 ? null : shown.view);
    put("beside", shown.beside);
    if (shown.time) {
        const { origin, offset, span } = shown.time;
        put("t", `${origin}${offset === 0 ? "" : `~${offset}`}`);
        put("span", String(span));
    }
    put("job", shown.job);
    if (shown.interval) put("interval", `${shown.interval.from}~${shown.interval.until}`);
    put("filter", shown.filter);
    put("sort", shown.sort);
    put("row", shown.row === 0 ? null : shown.row);
    put("as", shown.as);
    put("tab", shown.tab);
    put("closed", shown.closed.join("."));
    put("rows", shown.rows.map(([chart, first, rows]) => `${chart}~${short(first)}~${short(rows)}`).join("_"));
    return pairs.toString();
}

/** Parts that cannot be read are left out. */
export function read(fragment: string): Shown {
    const pairs = new URLSearchParams(fragment.replace(/^#/, ""));
    const numbers = (name: string) => (pairs.get(name) ?? "").split("~").map(number);
    const [origin, offset] = numbers("t");
    const length = number(pairs.get("span") ?? "");
    const [from, until] = numbers("interval");
    const rows = (pairs.get("rows") ?? "").split("_").flatMap((text) => {
        const [chart, first, count] = text.split("~").map(number);
        return whole(chart) && finite(first) && finite(count) && count > 0 ? [[chart, first, count] as const] : [];
    });
    return {
        view: natural(pairs.get("v")) ?? 0,
        beside: natural(pairs.get("beside")),
        time: whole(origin) && finite(length) && length > 0 ? { origin, offset: finite(offset) ? offset : 0, span: length } : null,
        job: natural(pairs.get("job")),
        interval: whole(from) && whole(until) && from < until ? { from, until } : null,
        filter: pairs.get("filter") ?? "",
        sort: pairs.get("sort") ?? "",
        row: natural(pairs.get("row")) ?? 0,
        as: pairs.get("as"),
        tab: pairs.get("tab") ?? "",
        closed: (pairs.get("closed") ?? "").split(".").map(number).filter(whole),
        rows,
    };
}

const number = (text: string) => (text === "" ? Number.NaN : Number(text));
const finite = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value);
const whole = (value: number | undefined): value is number => Number.isSafeInteger(value);

function natural(text: string | null): number | null {
    const value = text === null ? Number.NaN : number(text);
    return whole(value) && value >= 0 ? value : null;
}

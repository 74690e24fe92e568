/** The table of jobs: sorted and filtered by the server, of which only the rows in sight are here. */

import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { api, type Column, type Value } from "./api";
import { asActor, dataVersion, filter, job, select, sort, spoken, tableOpen, topRow, viewId, wantedRow } from "./state";
import { compact, spanOfSeconds, valueInWords } from "./words";

const ROW = 24;
const PAGE = 100;
/** Browsers draw no element that is much higher. */
const HEIGHT_MOST = 8_000_000;
const PAGES_MOST = 60;
/** The order without another one. */
const BY_NUMBER = "job";

/** These columns come first, in this order. */
const FIRST = ["job", "workload_name", "job_id", "class", "user_id", "provider", "outcome", "submission_time", "starting_time", "finish_time", "waiting_time", "execution_time", "requested_number_of_resources", "requested_time", "attempts"];

/** Places of the columns in the answer of the server, in the order in which they are shown. */
function orderOf(columns: readonly Column[]): number[] {
    const rank = (at: number) => {
        const place = FIRST.indexOf(columns[at]?.name ?? "");
        return place < 0 ? FIRST.length + at : place;
    };
    return columns.map((_, at) => at).sort((a, b) => rank(a) - rank(b));
}

interface Known {
    readonly key: string;
    readonly total: number;
    readonly matching: number;
    readonly columns: readonly Column[];
    readonly pages: ReadonlyMap<number, readonly (readonly Value[])[]>;
    readonly error: string | null;
}

/** A comparison with a word that begins with a letter. */
const WITHOUT_QUOTES = /[=<>~]\s*[A-Za-z_]/;

const NOTHING: Known = { key: "", total: 0, matching: 0, columns: [], pages: new Map(), error: null };

export function JobTable() {
    const scroller = useRef<HTMLDivElement>(null);
    const known = useSignal<Known>(NOTHING);
    const top = useSignal(0);
    const height = useSignal(200);
    const text = useSignal(filter.value);

    useEffect(() => {
        const timers = { filter: 0 as ReturnType<typeof setTimeout> | 0 };
        const stopFilter = effect(() => {
            const wanted = text.value;
            if (timers.filter !== 0) clearTimeout(timers.filter);
            timers.filter = setTimeout(() => (filter.value = wanted), 250);
        });
        const stopText = effect(() => {
            const changed = filter.value;
            if (document.activeElement?.id !== "filter") text.value = changed;
        });
        return () => {
            stopFilter();
            stopText();
        };
    }, []);

    useEffect(() => {
        const asked = new Set<string>();
        return effect(() => {
            const version = dataVersion.value;
            if (version === null || !tableOpen.value) return;
            const ask = { filter: filter.value, sort: sort.value || BY_NUMBER, as: asActor.value };
            const key = JSON.stringify([viewId.value, version, ask]);
            const all = known.value;
            const first = all.key === key ? firstRow(top.value, all.matching) : 0;
            const pages = [Math.floor(first / PAGE), Math.floor((first + Math.ceil(height.value / ROW)) / PAGE)];
            for (const page of new Set(pages)) {
                const name = `${key}|${page}`;
                if (asked.has(name) || (all.key === key && all.pages.has(page))) continue;
                asked.add(name);
                void api
                    .jobs(viewId.value, { ...ask, first: page * PAGE, count: PAGE })
                    .then((found) => {
                        const before = known.peek();
                        const kept = before.key === key ? [...before.pages].slice(-PAGES_MOST) : [];
                        const failed = found.error !== null;
                        // A filter that cannot be read has no rows; the headings stay.
                        const rest = failed ? { total: found.total, matching: 0, columns: before.columns, pages: new Map() } : { total: found.total, matching: found.matching, columns: found.columns, pages: new Map([...kept, [page, found.rows]]) };
                        known.value = { key, error: found.error, ...rest };
                        if (page === 0 && !failed) spoken.value = `${found.matching} of ${found.total} jobs`;
                    })
                    .catch((cause: unknown) => {
                        known.value = { ...known.peek(), key, error: cause instanceof Error ? cause.message : String(cause) };
                    })
                    .finally(() => asked.delete(name));
            }
        });
    }, []);

    useEffect(
        () =>
            effect(() => {
                void [filter.value, sort.value, viewId.value];
                if (scroller.current) scroller.current.scrollTop = 0;
            }),
        [],
    );

    // Without a filter and another order, the row of a job is its number.
    useEffect(() => {
        let shown: number | null = null;
        return effect(() => {
            const number = job.value;
            const { matching, total } = known.value;
            const element = scroller.current;
            if (number === shown || matching === 0 || !element) return;
            shown = number;
            if (number === null || filter.peek() !== "" || sort.peek() !== "" || matching !== total || matching * ROW > HEIGHT_MOST) return;
            const y = number * ROW;
            if (y < element.scrollTop || y + 2 * ROW > element.scrollTop + element.clientHeight) element.scrollTop = Math.max(0, y - element.clientHeight / 3);
        });
    }, []);

    // After the selected job: the row of an address comes first.
    useEffect(
        () =>
            effect(() => {
                const row = wantedRow.value;
                const { key, matching } = known.value;
                if (row === null || key === "") return;
                // In the next picture the table has its height.
                requestAnimationFrame(() => {
                    if (scroller.current && row > 0) scroller.current.scrollTop = topOf(row, matching);
                    wantedRow.value = null;
                });
            }),
        [],
    );

    useEffect(() => {
        const element = scroller.current;
        if (!element) return;
        const observer = new ResizeObserver(() => (height.value = element.clientHeight));
        observer.observe(element);
        return () => observer.disconnect();
    }, []);

    const { matching, total, columns, pages, error } = known.value;
    const scrolled = (to: number) => {
        top.value = to;
        topRow.value = firstRow(to, matching);
    };
    const full = Math.min(matching * ROW, HEIGHT_MOST);
    const first = firstRow(top.value, matching);
    const count = Math.ceil(height.value / ROW) + 2;
    const rows = Array.from({ length: Math.max(0, Math.min(count, matching - first)) }, (_, at) => first + at);
    const shift = matching * ROW > HEIGHT_MOST ? top.value : first * ROW;
    const order = orderOf(columns);
    const jobColumn = Math.max(columns.findIndex((it) => it.name === "job"), 0);
    return (
        <section class="pane jobs" aria-label="Table of jobs">
            <div class="jobs-head">
                <button type="button" class="twist" aria-expanded={tableOpen.value} onClick={() => (tableOpen.value = !tableOpen.value)} aria-label="Table of jobs">
                    {tableOpen.value ? "▾" : "▸"}
                </button>
                <h2 class="pane-title">Jobs</h2>
                <span class="count" data-testid="count">{`${error === null ? compact(matching) : "–"} of ${compact(total)}`}</span>
                <input
                    id="filter"
                    class={error ? "filter wrong" : "filter"}
                    type="text"
                    spellcheck={false}
                    autocomplete="off"
                    placeholder="Filter: waiting_time > 3600 && user_id == 5, or a name or number"
                    aria-label="Filter of jobs"
                    aria-invalid={error !== null}
                    aria-describedby="filter-error"
                    value={text.value}
                    onInput={(event) => (text.value = event.currentTarget.value)}
                    onKeyDown={(event) => {
                        if (event.key === "Escape") event.currentTarget.blur();
                    }}
                />
                <span id="filter-error" class="bad" role="status">
                    {error}
                    {error !== null && WITHOUT_QUOTES.test(text.value) && <span class="hint">{' Write names in quotes, such as `provider == "east"`.'}</span>}
                </span>
            </div>
            <div class="jobs-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Rows of jobs" hidden={!tableOpen.value} onScroll={(event) => scrolled(event.currentTarget.scrollTop)} onKeyDown={(event) => walk(event, known.value, jobColumn)} data-testid="jobs">
                <table aria-rowcount={matching + 1}>
                    <thead>
                        <tr aria-rowindex={1}>
                            {order.map((at) => (
                                <Heading column={columns[at] as Column} />
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        <tr class="room" aria-hidden="true" style={{ height: `${shift}px` }} />
                        {rows.map((row) => {
                            const values = pages.get(Math.floor(row / PAGE))?.[row % PAGE];
                            return <Row key={row} row={row} values={values ?? null} columns={columns} order={order} jobColumn={jobColumn} />;
                        })}
                        <tr class="room" aria-hidden="true" style={{ height: `${Math.max(full - shift - rows.length * ROW, 0)}px` }} />
                    </tbody>
                </table>
            </div>
        </section>
    );
}

/** The first row at a scrolled distance; a long table is scrolled in proportion. */
function firstRow(top: number, matching: number): number {
    const all = matching * ROW;
    const at = all > HEIGHT_MOST ? (top / HEIGHT_MOST) * matching : top / ROW;
    return Math.max(0, Math.min(Math.floor(at), matching - 1));
}

/** The scrolled distance of a row. */
function topOf(row: number, matching: number): number {
    const all = matching * ROW;
    return all > HEIGHT_MOST ? (row / matching) * HEIGHT_MOST : row * ROW;
}

/** Columns of numbers have their headings at the right, as their cells. */
const isNumeric = (column: Column) => column.type === "integer" || column.type === "float";

function Heading({ column }: { column: Column }) {
    const order = sort.value || BY_NUMBER;
    const name = order.replace(/^-/, "");
    const way = name !== column.name ? "none" : order.startsWith("-") ? "descending" : "ascending";
    const next = way === "none" ? column.name : way === "ascending" ? `-${column.name}` : "";
    return (
        <th scope="col" class={isNumeric(column) ? "number" : ""} aria-sort={way} title={`${column.meaning}${column.unit ? ` (${column.unit})` : ""}`}>
            <button type="button" class="plain" onClick={() => (sort.value = next)}>
                {column.name}
                {column.unit && <small>{` ${column.unit}`}</small>}
                {way === "none" ? "" : way === "ascending" ? " ▲" : " ▼"}
            </button>
        </th>
    );
}

interface RowProperties {
    readonly row: number;
    readonly values: readonly Value[] | null;
    readonly columns: readonly Column[];
    readonly order: readonly number[];
    readonly jobColumn: number;
}

function Row({ row, values, columns, order, jobColumn }: RowProperties) {
    const number = values?.[jobColumn];
    const chosen = typeof number === "number" && number === job.value;
    const choose = () => {
        if (typeof number === "number") select(number, { reveal: true });
    };
    return (
        <tr class={chosen ? "chosen" : ""} aria-rowindex={row + 2} aria-selected={chosen} onClick={choose}>
            {order.map((at) => {
                const value = values?.[at];
                const unit = columns[at]?.unit ?? null;
                const text = values ? valueInWords(value) : "…";
                const numeric = typeof value === "number" ? "number" : "";
                return (
                    <td class={numeric} title={spanOfSeconds(value, unit)}>
                        {text.length > 120 ? `${text.slice(0, 119)}…` : text}
                    </td>
                );
            })}
        </tr>
    );
}

/** Up and Down move the selection in the order of the table. */
function walk(event: KeyboardEvent, known: Known, jobColumn: number): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    event.stopPropagation();
    step(event.key === "ArrowDown" ? 1 : -1, known, jobColumn, event.currentTarget as HTMLElement);
}

function step(by: 1 | -1, known: Known, jobColumn: number, scroller: HTMLElement): void {
    const all = [...known.pages].flatMap(([page, rows]) => rows.map((values, at) => ({ row: page * PAGE + at, job: values[jobColumn] })));
    const now = all.find((it) => it.job === job.value)?.row;
    const next = now === undefined ? firstRow(scroller.scrollTop, known.matching) : now + by;
    const found = all.find((it) => it.row === next)?.job;
    if (typeof found !== "number") return;
    select(found, { reveal: true });
    const y = next * ROW;
    if (known.matching * ROW > HEIGHT_MOST) return;
    if (y < scroller.scrollTop) scroller.scrollTop = y;
    else if (y + 2 * ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = y + 3 * ROW - scroller.clientHeight;
}

/** Queue lengths and busy processors over time, on the axis of the charts. */

import { effect, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

import { api, type Series, type SeriesName } from "./api";
import { interval as intervalOf, timeAt, type TimeWindow } from "./axis";
import { crosshair, gutter, plotWidth } from "./measure";
import { Newest } from "./newest";
import { mixed } from "./palette";
import { eachPicture } from "./picture";
import { attach, intervalOn } from "./pointer";
import { asActor, besideOverview, besideVersion, complain, dataVersion, overview, restedTime, tables, time } from "./state";
import { dark, palette } from "./theme";
import { duration, elapsed } from "./ticks";
import { compact } from "./words";

/** Lines of charts in one pane. With more charts, only the sum is shown. */
const LINES_MOST = 8;
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [12, 4], [2, 2], [8, 2, 2, 2, 2, 2]];

interface Line {
    readonly view: number;
    readonly name: SeriesName;
    readonly sum: boolean;
    readonly colour: number;
    readonly second: boolean;
}

export interface Group {
    readonly key: string;
    readonly title: string;
}

/** Groups of series by the first part of their names, such as `queue`. */
export function groupsOf(series: readonly SeriesName[]): Group[] {
    const keys = [...new Set(series.map((it) => it.id.split(":")[0] ?? ""))];
    const titles: Record<string, string> = { queue: "Queue length", busy: "Busy processors" };
    return keys.map((key) => ({ key, title: titles[key] ?? series.find((it) => it.id.startsWith(key))?.title ?? key }));
}

interface Loaded {
    readonly from: number;
    readonly to: number;
    readonly x: readonly number[];
    readonly lines: readonly { readonly line: Line; readonly mean: readonly (number | null)[]; readonly max: readonly (number | null)[] }[];
}

export function SeriesPane({ group }: { group: Group }) {
    const box = useRef<HTMLDivElement>(null);
    const plot = useRef<uPlot | null>(null);
    const loaded = useSignal<Loaded | null>(null);
    const all = useSignal(true);
    const lines = useComputed((): Line[] => {
        const of = (id: number, series: readonly SeriesName[], second: boolean): Line[] => {
            const mine = series.filter((it) => it.id.split(":")[0] === group.key);
            const charts = mine.filter((it) => it.chart !== null);
            const sums = mine.filter((it) => it.chart === null);
            const each = !all.value || charts.length > LINES_MOST || (second && charts.length > 1) ? [] : charts;
            // The sum of one chart is the chart.
            const sum = charts.length === 1 && each.length === 1 ? [] : sums;
            return [...sum.map((name) => ({ view: id, name, sum: true, colour: 0, second })), ...each.map((name, colour) => ({ view: id, name, sum: false, colour, second }))];
        };
        const [here, there] = [overview.value, besideOverview.value];
        return [...(here ? of(here.id, here.series, false) : []), ...(there ? of(there.id, there.series, true) : [])];
    });

    useEffect(() => {
        const newest = new Newest<Loaded>();
        // The window and the lines that are here or under way.
        let asked: { readonly key: string; readonly from: number; readonly to: number } | null = null;
        const stop = effect(() => {
            const { from, until } = intervalOf(time.value);
            const width = plotWidth.value;
            const all = lines.value;
            const key = JSON.stringify([all.map((it) => [it.view, it.name.id]), dataVersion.value, besideVersion.value]);
            const length = until - from;
            const covers = asked?.key === key && from >= asked.from && until <= asked.to && length * 8 > asked.to - asked.from;
            // The lines of another actor's view are not those of this one.
            if (covers || width === 0 || all.length === 0 || dataVersion.value === null || overview.value?.seen_by !== asActor.value) return;
            // One window at each side, so that a short move needs no answer.
            const [first, last] = [from - length, until + length];
            asked = { key, from: first, to: last };
            newest.ask({
                load: (signal) => load(all, first, last, Math.round(width * 1.5), signal),
                then: (found) => (loaded.value = found),
                failed: (cause) => {
                    asked = null;
                    complain(cause);
                },
                delay: 60,
            });
        });
        return () => {
            stop();
            newest.forget();
        };
    }, []);

    useEffect(() => {
        const element = box.current;
        if (!element) return;
        let shown: Loaded | null = null;
        let look = "";
        const stop = eachPicture(() => {
            const found = loaded.value;
            const width = plotWidth.value + gutter();
            const now = `${dark.value}|${gutter()}`;
            if (!found || width <= 0) return;
            const height = Math.max(element.clientHeight, 40);
            if (!plot.current || shown?.lines.length !== found.lines.length || look !== now || shown.lines.some((it, at) => it.line !== found.lines[at]?.line)) {
                plot.current?.destroy();
                plot.current = new uPlot(options(found, width, height), dataOf(found), element);
                look = now;
            } else if (shown !== found) plot.current.setData(dataOf(found), false);
            shown = found;
            if (plot.current.width !== width || plot.current.height !== height) plot.current.setSize({ width, height });
            const left = time.value.origin - found.from + time.value.offset;
            const most = mostIn(found, left, left + time.value.span);
            plot.current.batch((it: uPlot) => {
                it.setScale("x", { min: left, max: left + time.value.span });
                it.setScale("y", { min: 0, max: most });
            });
        });
        const detach = attach(element, {
            axis: () => ({ left: gutter(), width: plotWidth.value }),
            hover: (x, _y, event) => (crosshair.value = x >= gutter() ? event.clientX : null),
            leave: () => (crosshair.value = null),
        });
        const observer = new ResizeObserver(() => plot.current?.setSize({ width: plotWidth.peek() + gutter(), height: Math.max(element.clientHeight, 40) }));
        observer.observe(element);
        return () => {
            stop();
            detach();
            observer.disconnect();
            plot.current?.destroy();
            plot.current = null;
        };
    }, []);

    const marked = intervalOn(gutter(), plotWidth.value);
    return (
        <section class="pane series" aria-label={group.title}>
            <h2 class="pane-title">{group.title}</h2>
            <Legend lines={lines.value} loaded={loaded.value} />
            <div class="series-plot" ref={box} role="img" aria-label={`${group.title} over time; the table below has the values`} data-testid={`series-${group.key}`} />
            {marked && <div class="interval" style={{ left: `${marked.left}px`, width: `${marked.width}px` }} />}
            <SeriesTable group={group} loaded={loaded.value} />
        </section>
    );
}

async function load(lines: readonly Line[], from: number, to: number, columns: number, signal: AbortSignal): Promise<Loaded> {
    const views = [...new Set(lines.map((it) => it.view))];
    const answers = new Map<number, Series>();
    await Promise.all(
        views.map(async (id) => {
            const ids = lines.filter((it) => it.view === id).map((it) => it.name.id);
            answers.set(id, await api.series(id, ids, from, to, columns, signal));
        }),
    );
    const step = (to - from) / columns;
    const nows = new Map([overview.peek(), besideOverview.peek()].flatMap((it) => (it?.now != null ? [[it.id, it.now] as const] : [])));
    // Times relative to the left edge: small numbers are exact.
    const x = Array.from({ length: columns }, (_, at) => (at + 0.5) * step);
    const found = lines.flatMap((line) => {
        const values = answers.get(line.view)?.series.find((it) => it.id === line.name.id);
        // A simulation has no values after its present time.
        const now = nows.get(line.view) ?? Number.POSITIVE_INFINITY;
        const known = (all: readonly (number | null)[]) => all.map((value, at) => (from + at * step < now ? value : null));
        return values ? [{ line, mean: known(values.mean), max: known(values.max) }] : [];
    });
    return { from, to, x, lines: found };
}

function dataOf(loaded: Loaded): uPlot.AlignedData {
    return [loaded.x as number[], ...loaded.lines.map(({ mean }) => mean as (number | null)[])] as uPlot.AlignedData;
}

function mostIn(loaded: Loaded, left: number, right: number): number {
    let most = 1;
    for (const { mean } of loaded.lines) {
        for (let at = 0; at < mean.length; at += 1) {
            const x = loaded.x[at] ?? 0;
            const value = mean[at];
            if (x >= left && x <= right && value != null && value > most) most = value;
        }
    }
    return most * 1.08;
}

const colourOf = (line: Line) => {
    const colours = palette.value;
    if (line.second) return line.sum ? colours.broken : (colours.workloads[line.colour % colours.workloads.length] ?? colours.soft);
    return line.sum ? colours.ink : (colours.workloads[line.colour % colours.workloads.length] ?? colours.soft);
};

function options(loaded: Loaded, width: number, height: number): uPlot.Options {
    const colours = palette.value;
    const stepped = uPlot.paths.stepped;
    return {
        width,
        height,
        padding: [6, 0, 4, 0],
        cursor: { show: false },
        legend: { show: false },
        scales: { x: { time: false, auto: false }, y: { auto: false } },
        axes: [
            { show: false },
            {
                size: gutter(),
                stroke: colours.soft,
                font: '11px system-ui, "DejaVu Sans", sans-serif',
                grid: { stroke: colours.line, width: 1 },
                ticks: { stroke: colours.line, size: 5 },
                space: 22,
                values: (_: uPlot, splits: number[]) => splits.map((it) => compact(it)),
            },
        ],
        series: [
            {},
            ...loaded.lines.map(({ line }): uPlot.Series => {
                const paths = stepped ? { paths: stepped({ align: 1 }) } : {};
                const fill = line.sum && !line.second ? { fill: mixed(colours.dense, colours.ground, 0.16) } : {};
                const dash = line.second ? [6, 4] : line.sum ? [] : (DASHES[line.colour % DASHES.length] ?? []);
                return { label: line.name.title, stroke: colourOf(line), width: line.sum ? 1.6 : 1.2, dash, points: { show: false }, ...paths, ...fill };
            }),
        ],
    };
}

/** The names of the lines, with their values at the pointer. */
function Legend({ lines, loaded }: { lines: readonly Line[]; loaded: Loaded | null }) {
    const x = crosshair.value;
    const index = loaded && x !== null ? indexAt(loaded, x) : null;
    return (
        <ul class="legend" aria-label="Lines">
            {lines.map((line) => {
                const value = index === null ? null : loaded?.lines.find((it) => sameLine(it.line, line))?.mean[index];
                return (
                    <li>
                        <svg width="22" height="8" aria-hidden="true">
                            <line x1="0" y1="4" x2="22" y2="4" stroke={colourOf(line)} stroke-width={line.sum ? 2.4 : 1.8} stroke-dasharray={(line.second ? [6, 4] : line.sum ? [] : (DASHES[line.colour % DASHES.length] ?? [])).join(" ")} />
                        </svg>
                        {nameOf(line)}
                        {value != null && <b>{` ${compact(value)}`}</b>}
                    </li>
                );
            })}
        </ul>
    );
}

const sameLine = (one: Line, other: Line) => one.view === other.view && one.name.id === other.name.id;

function nameOf(line: Line): string {
    const from = line.second ? besideOverview.value : overview.value;
    const chart = from?.charts.find((it) => it.id === line.name.chart);
    const text = line.sum ? "all" : (chart?.name ?? line.name.title);
    return line.second ? `${text} of ${from?.name ?? ""}` : text;
}

function indexAt(loaded: Loaded, x: number): number | null {
    const plot = document.querySelector(".scroller")?.getBoundingClientRect();
    if (!plot || plotWidth.value === 0) return null;
    const at = timeAt(time.value, (x - plot.left - gutter()) / plotWidth.value);
    const index = Math.floor(((at - loaded.from) / (loaded.to - loaded.from)) * loaded.x.length);
    return index >= 0 && index < loaded.x.length ? index : null;
}

const ROWS = 20;

interface Means {
    /** Length of a step, µs. */
    readonly step: number;
    readonly rows: readonly { readonly at: number; readonly means: readonly (number | null)[] }[];
}

/** Means over about twenty steps of a window, each of whole columns. */
function meansIn(loaded: Loaded, window: TimeWindow): Means {
    const column = (loaded.to - loaded.from) / loaded.x.length;
    const each = Math.max(Math.round(window.span / ROWS / column), 1);
    const first = Math.max(Math.ceil((timeAt(window, 0) - loaded.from) / column), 0);
    const last = Math.min(Math.floor((timeAt(window, 1) - loaded.from) / column), loaded.x.length);
    const count = Math.max(Math.floor((last - first) / each), 0);
    const rows = Array.from({ length: count }, (_, at) => {
        const from = first + at * each;
        return { at: loaded.from + from * column, means: loaded.lines.map(({ mean }) => meanOf(mean.slice(from, from + each))) };
    });
    return { step: each * column, rows };
}

function meanOf(values: readonly (number | null)[]): number | null {
    const known = values.filter((it) => it !== null);
    return known.length === 0 ? null : known.reduce((sum, it) => sum + it, 0) / known.length;
}

const SECOND = 1_000_000;

function SeriesTable({ group, loaded }: { group: Group; loaded: Loaded | null }) {
    // Not in each picture: a table of a moving window cannot be read.
    const found = loaded ? meansIn(loaded, restedTime.value) : null;
    const unit = (found?.step ?? 0) >= SECOND ? SECOND : 1;
    return (
        <div class={tables.value ? "as-table" : "hidden-table"} tabIndex={tables.value ? 0 : -1} role="region" aria-label={`Table of ${group.title.toLowerCase()}`}>
            <table>
                <caption>{`${group.title}${found ? `: mean over steps of ${duration(found.step)}` : ""}`}</caption>
                <thead>
                    <tr>
                        <th scope="col">From</th>
                        {loaded?.lines.map(({ line }) => <th scope="col">{nameOf(line)}</th>)}
                    </tr>
                </thead>
                <tbody>
                    {found?.rows.map(({ at, means }) => (
                        <tr>
                            <td>{elapsed(Math.round(at / unit) * unit, unit)}</td>
                            {means.map((it) => (
                                <td>{it === null ? "–" : compact(it)}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}


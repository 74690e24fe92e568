/** Charts from top to bottom in CSS pixels. Only those in sight are drawn. */

import type { Chart, Overview } from "./api";

export interface Pane {
    readonly view: number;
    /** The view that this one is compared with. */
    readonly beside: number | null;
    readonly chart: Chart;
    /** The second view of a comparison. */
    readonly second: boolean;
    readonly top: number;
    /** Top and height of the area with bars; the height is 0 if the chart is closed. */
    readonly body: number;
    readonly height: number;
}

export const HEADER = 26;
const GAP = 4;
const LEAST = 46;
const MOST = 520;
const ROW_MOST = 26;

export function layout(here: Overview, there: Overview | null, closed: ReadonlySet<number>, room: number, stretch: number): { panes: Pane[]; height: number } {
    const pairs = here.charts.flatMap((chart) => {
        const first = { view: here.id, beside: there?.id ?? null, chart, second: false };
        const twin = there?.charts.find((it) => it.name === chart.name && it.kind === chart.kind);
        return there && twin ? [first, { view: there.id, beside: here.id, chart: twin, second: true }] : [first];
    });
    const names = new Set(here.charts.map((it) => it.name));
    for (const chart of there?.charts ?? []) {
        if (there && !names.has(chart.name)) pairs.push({ view: there.id, beside: here.id, chart, second: true });
    }
    const open = pairs.filter((it) => !closed.has(it.chart.id));
    const each = (room - pairs.length * (HEADER + GAP)) / Math.max(open.length, 1);
    let at = 0;
    const panes = pairs.map((pair): Pane => {
        const most = Math.min(MOST, Math.max(pair.chart.rows * ROW_MOST, 30));
        const height = closed.has(pair.chart.id) ? 0 : Math.round(Math.max(Math.min(Math.max(each, LEAST), most), Math.min(most, 24)) * stretch);
        const pane = { ...pair, top: at, body: at + HEADER, height };
        at += HEADER + height + GAP;
        return pane;
    });
    return { panes, height: at };
}

export function inSight(panes: readonly Pane[], top: number, height: number): Pane[] {
    return panes.filter((pane) => pane.body + pane.height >= top && pane.top <= top + height);
}

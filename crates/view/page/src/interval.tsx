/** Sums of the selected interval, or of the window without one. */

import { computed, effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, type Sum } from "./api";
import { Fitted } from "./fitted";
import { Newest } from "./newest";
import { complain, interval, overview, shownInterval, viewId, zoomToSelection } from "./state";
import { duration } from "./ticks";
import { at, compact, percent } from "./words";

type Sums = readonly { readonly name: string; readonly sum: Sum }[];

/** Charts whose sums are asked for. */
const CHARTS_MOST = 40;

/** The interval or the window, as far as it is within the run, or before the present time of a simulation. */
const partOfRun = computed(() => {
    const here = overview.value;
    if (!here) return null;
    const from = Math.max(shownInterval.value.from, here.from);
    const until = Math.min(shownInterval.value.until, here.now ?? here.until);
    return from < until ? { from, until } : null;
});

export function IntervalTab() {
    const sums = useSignal<Sums>([]);
    useEffect(() => {
        const newest = new Newest<Sums>();
        const stop = effect(() => {
            const here = overview.value;
            const part = partOfRun.value;
            const id = viewId.value;
            if (!here || !part) {
                sums.value = [];
                return newest.forget();
            }
            const { from, until } = part;
            const charts = here.charts.filter((it) => !it.hidden).slice(0, CHARTS_MOST);
            newest.ask({
                load: (signal) => Promise.all(charts.map(async (chart) => ({ name: chart.name, sum: await api.sum(id, chart.id, from, until, 0, Math.max(chart.rows, 1), signal) }))),
                then: (found) => (sums.value = found),
                failed: complain,
                delay: 150,
            });
        });
        return () => {
            stop();
            newest.forget();
        };
    }, []);
    const part = partOfRun.value;
    return (
        <div class="tab-body" data-testid="interval">
            <h3>{interval.value ? "Selected interval" : "Window"}</h3>
            <p>{part ? `${at(part.from)} to ${at(part.until)} (${duration(part.until - part.from)})` : "It has no time of the run."}</p>
            <p class="hint">Jobs are those that run in this time.</p>
            {!interval.value && <p class="hint">Shift and a drag select an interval; Shift and an arrow change it by keys.</p>}
            {interval.value && (
                <div class="row">
                    <button type="button" class="small" onClick={zoomToSelection}>
                        Zoom
                    </button>
                    <button type="button" class="small" onClick={() => (interval.value = null)}>
                        Clear
                    </button>
                </div>
            )}
            {overview.value?.seen_by != null && <p class="hint">{`Sums of other charts are hidden from ${overview.value.seen_by}.`}</p>}
            <Fitted
                label="Sums"
                named
                columns={[{ name: "Chart" }, ...["Jobs", "Bars", "Processor hours", "Utilisation", "Mean wait"].map((name) => ({ name, numeric: true }))]}
                rows={sums.value.map(({ name, sum }) => ({
                    cells: [
                        name,
                        compact(sum.jobs),
                        compact(sum.bars),
                        compact(sum.processor_seconds / 3600),
                        sum.utilisation === null ? "–" : percent(sum.utilisation),
                        sum.mean_waiting_time === null ? "–" : duration(sum.mean_waiting_time * 1e6),
                    ],
                }))}
            />
        </div>
    );
}

/** The bars and marks in the window as a table, chart by chart in pages, with their whole extents. */

import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, ONLY_THERE, type Chart, type Listed } from "./api";
import { interval } from "./axis";
import * as state from "./state";
import { MARKS, styleInWords } from "./tile";
import { Shown } from "./values";
import { compact, counted } from "./words";

const PAGE = 200;

/** A chart of the view or of the one beside it. */
interface Choice {
    readonly view: number;
    readonly chart: Chart;
    readonly name: string;
}

function choices(): Choice[] {
    const views = [state.overview.value, state.besideOverview.value].filter((it) => it !== null);
    return views.flatMap((of) => of.charts.map((chart) => ({ view: of.id, chart, name: views.length > 1 ? `${chart.name} (${of.name})` : chart.name })));
}

export function BarTable() {
    const chosen = useSignal<number | null>(null);
    const first = useSignal(0);
    const found = useSignal<Listed | null>(null);
    const all = choices();
    const at = Math.min(chosen.value ?? Math.max(all.findIndex((it) => it.view === state.viewId.value && it.chart.id === state.activeChart.value), 0), Math.max(all.length - 1, 0));
    const choose = (place: number) => {
        chosen.value = place;
        first.value = 0;
    };
    useEffect(() => {
        let timer: ReturnType<typeof setTimeout> | null = null;
        let asked = 0;
        return effect(() => {
            const choice = choices()[chosen.value ?? Math.max(choices().findIndex((it) => it.view === state.viewId.value && it.chart.id === state.activeChart.value), 0)];
            const { from, until } = interval(state.time.value);
            const page = first.value;
            void [state.asActor.value, state.overview.value?.version, state.besideOverview.value?.version];
            const rows = choice ? state.rowsOf(choice.chart) : null;
            if (timer !== null) clearTimeout(timer);
            asked += 1;
            const mine = asked;
            if (!choice || !rows) return void (found.value = null);
            // Made anew when the window rests.
            timer = setTimeout(() => {
                const lowest = Math.floor(rows.first);
                api.bars(choice.view, choice.chart.id, { from, to: until, first_row: lowest, rows: Math.ceil(rows.first + rows.rows) - lowest, first: page, count: PAGE })
                    .then((it) => {
                        if (mine !== asked) return;
                        found.value = it;
                        if (page > 0 && page >= it.bars + it.marks) first.value = 0;
                    })
                    .catch(state.complain);
            }, 500);
        });
    }, []);
    const shown = found.value;
    const total = shown ? shown.bars + shown.marks : 0;
    const chart = all[at]?.chart;
    return (
        <div class={state.tables.value ? "as-table" : "hidden-table"} tabIndex={state.tables.value ? 0 : -1} role="region" aria-label="Table of the bars in sight">
            <p class="row">
                <label class="field">
                    Chart
                    <select value={at} tabIndex={state.tables.value ? 0 : -1} onChange={(event) => choose(Number(event.currentTarget.value))}>
                        {all.map((it, place) => (
                            <option value={place}>{it.name}</option>
                        ))}
                    </select>
                </label>
                <span data-testid="bars-count">{shown && `${counted(shown.bars, "bar")} and ${counted(shown.marks, "mark")} in the window${total > 0 ? `; ${compact(first.value + 1)} to ${compact(Math.min(first.value + PAGE, total))} are listed` : ""}`}</span>
                <button type="button" class="small" tabIndex={state.tables.value ? 0 : -1} disabled={first.value === 0} onClick={() => (first.value = Math.max(first.value - PAGE, 0))}>
                    ◀ Earlier rows
                </button>
                <button type="button" class="small" tabIndex={state.tables.value ? 0 : -1} disabled={first.value + PAGE >= total} onClick={() => (first.value += PAGE)}>
                    Later rows ▶
                </button>
            </p>
            <table>
                <caption>Bars in the window by start, then failures, maintenance and crashes</caption>
                <thead>
                    <tr>
                        {["Job", "First row", "Rows", "Start", "End", "Length", "Kind"].map((it) => (
                            <th scope="col">{it}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {shown?.rows.map((row) => (
                        <tr>
                            <td>{row.job === null || row.job === ONLY_THERE ? "–" : row.job}</td>
                            <td>{(chart?.first_number ?? 0) + row.row}</td>
                            <td>{row.rows}</td>
                            <td>
                                <Shown value={{ time: row.start }} />
                            </td>
                            <td>
                                <Shown value={{ time: row.end }} />
                            </td>
                            <td>
                                <Shown value={{ span: row.end - row.start }} />
                            </td>
                            <td>{row.job === null ? (MARKS[row.style] ?? "") : styleInWords(row.style)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

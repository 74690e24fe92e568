/** Metrics of the run, its tables and its problems. */

import { Fitted } from "./fitted";
import { besideOverview, overview } from "./state";
import { compact, counted, percent, timeOfUse, valueInWords } from "./words";

/** The metric without a warm-up. */
const WINDOWED = "utilisation_in_window";

export function SummaryTab() {
    const here = overview.value;
    const there = besideOverview.value;
    if (!here) return <p class="hint">…</p>;
    const other = new Map(there?.metrics.map((it) => [it.name, it.value]) ?? []);
    return (
        <div class="tab-body" data-testid="summary">
            {here.loading.length > 0 && <p class="hint" role="status">{`Reading: ${here.loading.join(", ")}`}</p>}
            {here.problems.length > 0 && (
                <>
                    <h3>Problems</h3>
                    <ul class="problems">
                        {here.problems.map((text) => (
                            <li>{text}</li>
                        ))}
                    </ul>
                </>
            )}
            <h3>Metrics</h3>
            {here.seen_by !== null && <p class="hint">{`Metrics of the whole run, problems and pictures are hidden from ${here.seen_by}.`}</p>}
            {here.metrics.some((it) => it.name === WINDOWED) && <p class="hint">The utilisation is that of the whole run, as in the heads of the charts. That in the window leaves out the warm-up and the cool-down of the scenario, if it has them, or is that of its `window`.</p>}
            <table class="values">
                {there && (
                    <thead>
                        <tr>
                            <th scope="col">Metric</th>
                            <th scope="col">{here.name}</th>
                            <th scope="col">{there.name}</th>
                        </tr>
                    </thead>
                )}
                <tbody>
                    {here.metrics.map(({ name, title, unit, value }) => (
                        <tr>
                            <th scope="row" title={name}>
                                {title}
                            </th>
                            <td>
                                {valueInWords(value)}
                                {unit && value !== null && <small>{` ${unit}`}</small>}
                            </td>
                            {there && <td>{valueInWords(other.get(name))}</td>}
                        </tr>
                    ))}
                </tbody>
            </table>
            <h3>Charts</h3>
            <Fitted
                label="Charts"
                named
                columns={["Name", "Scheduler", "Rows", `Utilisation ${timeOfUse(here)}`, "Started"].map((name) => ({ name }))}
                rows={here.charts.map((chart) => ({
                    cells: [
                        chart.name,
                        chart.hidden ? "hidden" : (chart.scheduler ?? "–"),
                        chart.hidden ? "–" : compact(chart.rows),
                        chart.utilisation === null ? "–" : percent(chart.utilisation),
                        chart.jobs === null ? "–" : counted(chart.jobs, chart.kind === "grid" ? "attempt" : "job"),
                    ],
                }))}
            />
            <h3>Tables</h3>
            <table>
                <tbody>
                    {here.tables.map(({ name, rows }) => (
                        <tr>
                            <th scope="row">{name}</th>
                            <td>{rows === null ? "–" : `${compact(rows)} rows`}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

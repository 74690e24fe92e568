/** Two views on one axis: counts of the differences and the largest ones. */

import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, type Differences } from "./api";
import { Newest } from "./newest";
import { besideId, besideOverview, compareWith, complain, overview, select, viewId, views } from "./state";
import { duration } from "./ticks";
import { at, compact } from "./words";
import { palette } from "./theme";
import { Swatch } from "./swatch";

const COUNTS = [
    ["same", "same", 1],
    ["earlier", "earlier here", 2],
    ["later", "later here", 3],
    ["elsewhere", "at another provider", 4],
    ["only_here", "only here", 5],
    ["only_there", "only there", null],
] as const;

export function CompareTab() {
    const found = useSignal<Differences | null>(null);
    useEffect(() => {
        const newest = new Newest<Differences>();
        const stop = effect(() => {
            const [id, other] = [viewId.value, besideId.value];
            void [overview.value?.version, besideOverview.value?.version];
            if (other === null) {
                newest.forget();
                found.value = null;
                return;
            }
            newest.ask({ load: (signal) => api.differences(id, other, signal), then: (it) => (found.value = it), failed: complain });
        });
        return () => {
            stop();
            newest.forget();
        };
    }, []);
    const others = views.value.filter((it) => it.id !== viewId.value);
    return (
        <div class="tab-body" data-testid="compare">
            <label class="field">
                Compare with
                <select value={besideId.value ?? ""} onChange={(event) => void compareWith(event.currentTarget.value === "" ? null : Number(event.currentTarget.value)).catch(complain)}>
                    <option value="">nothing</option>
                    {others.map((it) => (
                        <option value={it.id}>{it.name}</option>
                    ))}
                </select>
            </label>
            {others.length === 0 && <p class="hint">There is no second view. Name two results folders at the start, or branch a simulation.</p>}
            {found.value && besideId.value !== null && <Counts of={found.value} />}
        </div>
    );
}

function Counts({ of }: { of: Differences }) {
    void palette.value;
    return (
        <>
            <table class="values">
                <tbody>
                    {COUNTS.map(([key, words, difference]) => (
                        <tr>
                            <th scope="row">
                                {difference !== null && <Swatch style={difference << 8} />}
                                {words}
                            </th>
                            <td class="number">{compact(of[key])}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <h3>Largest differences</h3>
            <div class="wide" tabIndex={0} role="region" aria-label="Largest differences">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">Job</th>
                            <th scope="col">Start here</th>
                            <th scope="col">Start there</th>
                            <th scope="col">Difference</th>
                            <th scope="col">Provider</th>
                        </tr>
                    </thead>
                    <tbody>
                        {of.largest.map((row) => (
                            <tr onClick={() => select(row.job, { reveal: true, open: false })}>
                                <td>
                                    <button type="button" class="plain">
                                        {row.label}
                                    </button>
                                </td>
                                <td>{at(row.start_here)}</td>
                                <td>{at(row.start_there)}</td>
                                <td>{row.start_here === null || row.start_there === null ? "–" : signed(row.start_here - row.start_there)}</td>
                                <td>{row.provider_here === row.provider_there ? (row.provider_here ?? "–") : `${row.provider_here ?? "–"} / ${row.provider_there ?? "–"}`}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </>
    );
}

const signed = (span: number) => (span > 0 ? `+${duration(span)}` : duration(span));

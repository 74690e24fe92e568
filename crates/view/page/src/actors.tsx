/** An actor's own knowledge, the facts that others told it, and the switch that hides the rest. */

import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, type Glimpse, type Told } from "./api";
import { Fitted } from "./fitted";
import { actorNames, actorShown, asActor, complain, isSimulation, overview, shownInterval, simulation, viewId } from "./state";
import { Named, Records, Shown } from "./values";
import { compact } from "./words";

const ACTORS_MOST = 2000;

/** Actors do not see the knowledge of others. */
const isHidden = (name: string) => asActor.value !== null && asActor.value !== name;

export function ActorsTab() {
    const glimpse = useSignal<Glimpse | null>(null);
    const told = useSignal<readonly Told[] | null>(null);
    useEffect(() => {
        let asked = 0;
        return effect(() => {
            const [id, name] = [viewId.value, actorShown.value];
            const until = isSimulation.value ? (simulation.value?.now ?? null) : shownInterval.value.until;
            void overview.value?.version;
            asked += 1;
            const mine = asked;
            if (name === null || isHidden(name)) {
                glimpse.value = null;
                told.value = null;
                return;
            }
            const ask = isSimulation.value ? api.actor(id, name).then((it) => ({ glimpse: it, told: it.told })) : api.told(id, name, until).then((it) => ({ glimpse: null, told: it }));
            ask.then((it) => {
                if (mine !== asked) return;
                glimpse.value = it.glimpse;
                told.value = it.told;
            }).catch((cause: unknown) => {
                if (mine !== asked) return;
                glimpse.value = null;
                told.value = null;
                complain(cause);
            });
        });
    }, []);
    return (
        <div class="tab-body" data-testid="actors">
            <label class="field">
                Actor
                <select value={actorShown.value ?? ""} onChange={(event) => (actorShown.value = event.currentTarget.value || null)}>
                    <option value="">choose an actor</option>
                    {actorNames.value.slice(0, ACTORS_MOST).map((it) => (
                        <option value={it.name}>{`${it.name} (${it.kind})`}</option>
                    ))}
                </select>
            </label>
            {actorShown.value !== null && (
                <label class="check">
                    <input type="checkbox" checked={asActor.value === actorShown.value} onChange={(event) => (asActor.value = event.currentTarget.checked ? actorShown.value : null)} />
                    {`View as ${actorShown.value}: hide everything that it does not know`}
                </label>
            )}
            {actorShown.value === null && <p class="hint">Providers keep their queues private. Choose an actor to see what it knows, and what it was told by whom.</p>}
            {actorShown.value !== null && isHidden(actorShown.value) && <p class="hint">{`Its knowledge is hidden from ${asActor.value}.`}</p>}
            {actorShown.value !== null && glimpse.value && <Knowledge of={glimpse.value} />}
            {actorShown.value !== null && told.value && <ToldTable told={told.value} />}
        </div>
    );
}

function Knowledge({ of }: { of: Glimpse }) {
    return (
        <>
            <h3>{`${of.name} (${of.kind})`}</h3>
            {of.left === true && <p class="hint">The actor has no more messages: it is shown as it left.</p>}
            {of.machine !== null && (
                <p>
                    <Named of={Object.entries(of.machine)} />
                </p>
            )}
            <Records title="Jobs" records={of.jobs} />
            <Records title="Promises" records={of.promises} />
            <Records title="Facts" records={of.facts} />
        </>
    );
}

function ToldTable({ told }: { told: readonly Told[] }) {
    const known = told.some((it) => it.values !== null);
    return (
        <>
            <h3>Told by others</h3>
            {told.length === 0 ? (
                <p class="hint">No other actor has disclosed anything to it until then.</p>
            ) : (
                <Fitted
                    label="Told by others"
                    named
                    columns={[{ name: "By" }, { name: "Item" }, { name: "Times", numeric: true }, { name: "First" }, { name: "Last" }, ...(known ? [{ name: "Contents of the last" }] : [])]}
                    rows={told.map((row) => ({
                        cells: [
                            row.sender,
                            row.item.replaceAll("_", " "),
                            compact(row.count),
                            <Shown value={row.first === null ? null : { time: row.first }} />,
                            <Shown value={row.last === null ? null : { time: row.last }} />,
                            ...(known ? [<span class="contents">{row.values && <Named of={row.values} />}</span>] : []),
                        ],
                    }))}
                />
            )}
        </>
    );
}

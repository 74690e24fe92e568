/** The page: the header, the steps, the panes on one time axis, the tabs beside them and the table of jobs. */

import { useEffect, useRef } from "preact/hooks";

import { ActorsTab } from "./actors";
import { CompareTab } from "./compare";
import { Dialogs } from "./dialogs";
import { Gantt } from "./gantt";
import { IntervalTab } from "./interval";
import { JobTab } from "./job";
import { crosshair, gutter, plotWidth } from "./measure";
import { MessagesTab, SequencePane } from "./sequence";
import { Ruler, Strip } from "./ruler";
import { Search } from "./search";
import { groupsOf, SeriesPane } from "./series";
import * as state from "./state";
import { StepBar } from "./steps";
import { SummaryTab } from "./summary";
import { JobTable } from "./table";
import { dark, toggleTheme } from "./theme";
import { Tooltip } from "./tooltip";

export function App() {
    return (
        <>
            <Head />
            <StepBar />
            <Notice />
            <Hidden />
            <main class={`main${state.sideOpen.value ? "" : " alone"}`}>
                <Axis />
                {state.sideOpen.value && <Side />}
            </main>
            <JobTable />
            <Dialogs />
            <Tooltip />
            <p class="only-read" role="status" aria-live="polite">
                {state.spoken.value}
            </p>
        </>
    );
}

function Head() {
    const here = state.overview.value;
    return (
        <header class="head">
            <h1>
                haggle<span>{state.version.value}</span>
            </h1>
            <ViewChoice />
            {state.besideId.value !== null && <span class="tag beside">{`beside ${state.besideOverview.value?.name ?? "…"}`}</span>}
            {here?.seed != null && <span class="seed">{`seed ${here.seed}`}</span>}
            <Search />
            <AsChoice />
            <div class="tools" role="toolbar" aria-label="Page">
                <Tool label="Zoom out (S)" onClick={() => state.zoom(1.6)}>
                    −
                </Tool>
                <Tool label="Zoom in (W)" onClick={() => state.zoom(1 / 1.6)}>
                    +
                </Tool>
                <Tool label="Fit the whole run (F)" onClick={state.fit}>
                    Fit
                </Tool>
                <Tool label="Compare with the second view (C)" pressed={state.besideId.value !== null} onClick={state.toggleCompare}>
                    Compare
                </Tool>
                <Tool label="Legend (H)" onClick={() => (state.dialog.value = "legend")}>
                    Legend
                </Tool>
                {state.withoutPictures.value === null && (
                    <Tool label="Save a picture (X)" onClick={() => (state.dialog.value = "save")}>
                        Save
                    </Tool>
                )}
                <Tool label="Tabs beside the charts (P)" pressed={state.sideOpen.value} onClick={() => (state.sideOpen.value = !state.sideOpen.value)}>
                    Tabs
                </Tool>
                <Tool label="Dark or light (T)" pressed={dark.value} onClick={toggleTheme}>
                    {dark.value ? "☾" : "☀"}
                </Tool>
                <Tool label="Keys (?)" onClick={() => (state.dialog.value = "help")}>
                    ?
                </Tool>
            </div>
        </header>
    );
}

function Tool({ label, pressed, onClick, children }: { label: string; pressed?: boolean; onClick: () => void; children: string }) {
    return (
        <button type="button" class="tool" title={label} aria-label={label} {...(pressed === undefined ? {} : { "aria-pressed": pressed })} onClick={onClick}>
            {children}
        </button>
    );
}

function ViewChoice() {
    return (
        <select aria-label="View" class="view" value={state.viewId.value} onChange={(event) => void state.openView(Number(event.currentTarget.value), { keepTime: true }).catch(state.complain)}>
            {state.views.value.map((it) => (
                <option value={it.id}>{`${it.name}${it.kind === "simulation" ? (it.base === null ? " (simulation)" : " (branch)") : ""}`}</option>
            ))}
        </select>
    );
}

const ACTORS_MOST = 2000;

function AsChoice() {
    return (
        <select id="as" class={state.asActor.value === null ? "as" : "as hiding"} aria-label="View as" value={state.asActor.value ?? ""} onChange={(event) => (state.asActor.value = event.currentTarget.value || null)}>
            <option value="">as everyone</option>
            {state.actorNames.value.slice(0, ACTORS_MOST).map((it) => (
                <option value={it.name}>{`as ${it.name}`}</option>
            ))}
        </select>
    );
}

/** Words for what an actor does not see. */
function Hidden() {
    const actor = state.overview.value?.seen_by ?? null;
    if (actor === null) return null;
    return <p class="notice quiet" role="status" data-testid="hidden">{`Seen by ${actor}: other charts, sums over all charts, metrics and the messages of others are hidden.`}</p>;
}

function Notice() {
    const shown = state.notice.value;
    const loading = state.overview.value?.loading ?? [];
    if (!shown) return loading.length > 0 ? <p class="notice quiet" role="status">{`Reading: ${loading.join(", ")}`}</p> : null;
    return (
        <div class="notice" role="alert">
            <span>{shown.text}</span>
            {shown.help && <span class="help">{shown.help}</span>}
            <button type="button" class="small" onClick={() => (state.notice.value = null)} aria-label="Close">
                ✕
            </button>
        </div>
    );
}

/** All panes on the time axis. */
function Axis() {
    const box = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const element = box.current;
        const scroller = element?.querySelector<HTMLElement>(".scroller");
        if (!element || !scroller) return;
        const measure = () => (plotWidth.value = Math.max(scroller.clientWidth - gutter(), 1));
        const observer = new ResizeObserver(measure);
        observer.observe(scroller);
        return () => observer.disconnect();
    }, []);
    const groups = groupsOf(state.overview.value?.series ?? []);
    return (
        <div class={state.tables.value ? "axis tabled" : "axis"} ref={box}>
            <Strip />
            <Ruler />
            <Gantt />
            <SequencePane />
            {groups.map((group) => (
                <SeriesPane key={group.key} group={group} />
            ))}
            <Crosshair />
        </div>
    );
}

function Crosshair() {
    const x = crosshair.value;
    if (x === null) return null;
    return <div class="crosshair" style={{ left: `${x}px` }} aria-hidden="true" />;
}

function Side() {
    const shown = state.tab.value;
    const keyed = (event: KeyboardEvent) => {
        const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (by === 0) return;
        event.preventDefault();
        event.stopPropagation();
        const at = state.TABS.findIndex((it) => it.id === shown);
        const next = state.TABS[(at + by + state.TABS.length) % state.TABS.length];
        if (!next) return;
        state.tab.value = next.id;
        document.getElementById(`tab-${next.id}`)?.focus();
    };
    return (
        <aside class="side" aria-label="Details">
            <div role="tablist" aria-label="Details" class="tabs" onKeyDown={keyed}>
                {state.TABS.map((it) => (
                    <button type="button" role="tab" id={`tab-${it.id}`} aria-selected={shown === it.id} aria-controls="tab-panel" tabIndex={shown === it.id ? 0 : -1} onClick={() => (state.tab.value = it.id)}>
                        {it.title}
                    </button>
                ))}
            </div>
            <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${shown}`} tabIndex={0} class="panel">
                <Body tab={shown} />
            </div>
        </aside>
    );
}

function Body({ tab }: { tab: state.Tab }) {
    switch (tab) {
        case "job":
            return <JobTab />;
        case "interval":
            return <IntervalTab />;
        case "messages":
            return <MessagesTab />;
        case "summary":
            return <SummaryTab />;
        case "actors":
            return <ActorsTab />;
        case "compare":
            return <CompareTab />;
    }
}

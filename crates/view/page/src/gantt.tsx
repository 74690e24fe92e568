/** The Gantt charts: one scrolled area with canvases, on which only the charts in sight are drawn. */

import { effect, useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { api, type Chart, ONLY_THERE, type Overview } from "./api";
import { timeAt } from "./axis";
import { bandsIn, bandsOf } from "./bands";
import { BarTable } from "./bars";
import { flatPainter } from "./flat";
import { glPainter } from "./gl";
import { HEADER, inSight, layout, type Pane } from "./layout";
import { drawGround, drawOver } from "./overlay";
import { questions } from "./newest";
import type { Painter } from "./painter";
import { attach, intervalOn } from "./pointer";
import { sceneOf, type Scene } from "./scene";
import * as state from "./state";
import { Sheets } from "./sheets";
import { hit, paint, type Drawn, type Hit, type View } from "./stage";
import { dark, palette } from "./theme";
import { MARKS, styleInWords } from "./tile";
import { duration } from "./ticks";
import { askOf, TileCache } from "./tiles";
import { tip } from "./tooltip";
import { atPixel, compact, counted, percent, timeOfUse } from "./words";
import { gutter, crosshair } from "./measure";

/** After so long without a change, the window rests, ms. */
const REST = 140;

class Stage {
    drawn: Drawn[] = [];
    view: View | null = null;
    frames = 0;
    private scheduled = false;
    private readonly painter: Painter;
    private readonly sheets: Sheets;
    readonly cache: TileCache;
    /** The window and the rows of the last picture, and the time at which they changed. */
    private before: readonly unknown[] = [];
    private movedAt = Number.NEGATIVE_INFINITY;
    private later: ReturnType<typeof setTimeout> | null = null;

    constructor(
        private readonly scroller: HTMLElement,
        private readonly ground: HTMLCanvasElement,
        private readonly bars: HTMLCanvasElement,
        private readonly over: HTMLCanvasElement,
        private readonly panes: () => readonly Pane[],
        private readonly room: Signal<number>,
    ) {
        // For tests: a painter that would not be chosen here.
        const asked = new URLSearchParams(location.search);
        const restored = () => {
            this.sheets.clear();
            this.schedule();
        };
        const painter = (asked.has("canvas") ? null : glPainter(bars, asked.has("webgl"), restored)) ?? flatPainter(bars);
        if (!painter) throw new Error("This browser has no canvas.");
        this.painter = painter;
        this.sheets = new Sheets(painter);
        this.cache = new TileCache(
            (address, signal) => api.tile(address.view, address.chart, askOf(address, this.rowsOf(address.view, address.chart)), signal),
            () => this.schedule(),
        );
        this.cache.onDrop = (tile) => {
            this.sheets.forget(tile);
            painter.forgetTile(tile);
        };
    }

    schedule(): void {
        if (this.scheduled) return;
        this.scheduled = true;
        requestAnimationFrame(() => {
            this.scheduled = false;
            this.draw();
        });
    }

    scene(): Scene | null {
        if (!this.view) return null;
        this.draw();
        return sceneOf(this.drawn, this.view, this.painter.name);
    }

    /** True while a picture or tiles are under way, or the charts have another height than they are laid out for. */
    get busy(): boolean {
        return this.scheduled || this.later !== null || this.cache.busy || !state.overview.value || this.scroller.clientHeight !== this.room.peek();
    }

    private rowsOf(view: number, chart: number): number {
        const all = [state.overview.value, state.besideOverview.value].find((it) => it?.id === view);
        return all?.charts.find((it) => it.id === chart)?.rows ?? 1;
    }

    private draw(): void {
        const [width, height] = [this.scroller.clientWidth, this.scroller.clientHeight];
        const ratio = Math.min(window.devicePixelRatio || 1, 3);
        if (width === 0 || height === 0 || !state.overview.value) return;
        // Before the observer tells: tiles of another height would be asked for in vain.
        this.room.value = height;
        this.resize(width, height, ratio);
        const scroll = this.scroller.scrollTop;
        const versions = new Map([state.overview.value, state.besideOverview.value].flatMap((it) => (it ? [[it.id, it.version] as const] : [])));
        const view: View = {
            time: state.time.value,
            bounds: state.bounds.value,
            panes: inSight(this.panes(), scroll, height),
            rows: state.rowsOf,
            version: (id) => versions.get(id) ?? 0,
            as: state.asActor.value,
            scroll,
            width,
            height,
            gutter: gutter(),
            ratio,
        };
        this.view = view;
        const colours = palette.value;
        const bands = (pane: Pane) => bandsOf(pane.view, pane.chart, view.version(pane.view), () => this.schedule());
        this.painter.begin(colours, ratio);
        const [ground, over] = [this.ground, this.over].map((it) => this.painter.plain ?? cleared(it));
        if (ground) drawGround(ground, view, colours, bands);
        this.painter.plain?.setTransform(1, 0, 0, 1, 0, 0);
        this.sheets.begin(`${dark.value}|${ratio}`, this.isMoving(view));
        this.drawn = paint(this.sheets, this.cache, view);
        this.sheets.end();
        if (this.sheets.unfinished) this.drawAgain();
        const emphasis = { selected: state.job.value, hovered: state.hovered.value };
        if (over) drawOver(over, view, colours, { drawn: this.drawn, emphasis, details: state.details.value, links: state.links.value, bands, now: state.overview.value.now });
        this.frames += 1;
    }

    /** True until the window and the rows have rested. */
    private isMoving(view: View): boolean {
        const now = [state.time.value, state.rowWindows.value, view.width, state.stretch.value];
        const changed = now.some((it, at) => it !== this.before[at]);
        const first = this.before.length === 0;
        this.before = now;
        // A moment in a frame, not a measurement.
        if (changed && !first) this.movedAt = performance.now();
        return performance.now() - this.movedAt < REST;
    }

    /** Draws again when the window rests, or at once if it does. */
    private drawAgain(): void {
        if (this.later !== null) clearTimeout(this.later);
        this.later = setTimeout(() => {
            this.later = null;
            this.schedule();
        }, Math.max(0, this.movedAt + REST - performance.now()));
    }

    private resize(width: number, height: number, ratio: number): void {
        const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
        for (const canvas of this.painter.plain ? [this.bars] : [this.ground, this.bars, this.over]) {
            if (canvas.width === w && canvas.height === h) continue;
            canvas.width = w;
            canvas.height = h;
            canvas.style.width = `${width}px`;
            canvas.style.height = `${height}px`;
            if (canvas === this.bars) this.painter.resize(w, h);
        }
    }
}

function cleared(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const context = canvas.getContext("2d");
    context?.setTransform(1, 0, 0, 1, 0, 0);
    context?.clearRect(0, 0, canvas.width, canvas.height);
    return context;
}

let stage: Stage | null = null;
export const scene = () => stage?.scene() ?? null;
export const frames = () => stage?.frames ?? 0;
/** True while a picture, tiles or answers are under way, or tables are still being read: what is in sight may yet move. */
export const waiting = () => (stage?.busy ?? true) || questions() > 0 || [state.overview, state.besideOverview].some((it) => (it.value?.loading.length ?? 0) > 0);

export function Gantt() {
    const scroller = useRef<HTMLDivElement>(null);
    const canvases = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)] as const;
    const room = useSignal(600);
    const plan = useComputed(() => {
        const here = state.overview.value;
        return here ? layout(here, state.besideOverview.value, state.closed.value, room.value, state.stretch.value) : { panes: [], height: 0 };
    });

    useEffect(() => {
        const element = scroller.current;
        const [ground, bars, over] = canvases.map((it) => it.current);
        if (!element || !ground || !bars || !over) return;
        const made = new Stage(element, ground, bars, over, () => plan.value.panes, room);
        stage = made;
        const observer = new ResizeObserver(() => {
            room.value = element.clientHeight;
            made.schedule();
            // Another pane may have come, which leaves less room.
            requestAnimationFrame(() => reveal(element, plan.peek().panes, state.revealed.peek()));
        });
        observer.observe(element);
        const moved = () => (state.revealed.value = null);
        element.addEventListener("wheel", moved, { passive: true });
        element.addEventListener("pointerdown", moved);
        const scrolled = () => made.schedule();
        element.addEventListener("scroll", scrolled, { passive: true });
        const detach = attach(element, gestures(element, made));
        const stop = effect(() => {
            // All that a picture depends on.
            void [plan.value, state.time.value, state.rowWindows.value, state.job.value, state.hovered.value, state.details.value];
            void [state.links.value, state.asActor.value, palette.value, state.overview.value, state.besideOverview.value];
            made.schedule();
        });
        const stopReveal = effect(() => {
            reveal(element, plan.peek().panes, state.revealed.value);
        });
        return () => {
            stop();
            stopReveal();
            detach();
            observer.disconnect();
            element.removeEventListener("scroll", scrolled);
            element.removeEventListener("wheel", moved);
            element.removeEventListener("pointerdown", moved);
        };
    }, []);

    const marked = intervalOn(gutter(), (scroller.current?.clientWidth ?? 0) - gutter());
    return (
        <section class="pane charts" aria-label="Gantt charts">
            <div class="scroller" ref={scroller} tabIndex={0} role="group" aria-label="Bars of all charts; the table below has the same bars" data-testid="charts">
                <div class="pin">
                    <canvas ref={canvases[0]} aria-hidden="true" />
                    <canvas ref={canvases[1]} aria-hidden="true" />
                    <canvas ref={canvases[2]} aria-hidden="true" />
                    {marked && <div class="interval" style={{ left: `${marked.left}px`, width: `${marked.width}px` }} />}
                </div>
                <div class="extent" style={{ height: `${plan.value.height}px` }}>
                    {plan.value.panes.map((pane) => (
                        <Header key={`${pane.view}.${pane.chart.id}`} pane={pane} />
                    ))}
                </div>
            </div>
            <BarTable />
        </section>
    );
}

function reveal(scroller: HTMLElement, panes: readonly Pane[], target: { chart: number; row: number } | null): void {
    const pane = panes.find((it) => it.chart.id === target?.chart);
    if (!pane || !target) return;
    const { first, rows } = state.rowsOf(pane.chart);
    if (target.row < first || target.row >= first + rows) state.setRows(pane.chart, { first: target.row - rows / 2, rows });
    // The chart of the second view is shown with it, if both have room.
    const both = Math.max(...panes.filter((it) => it.chart.name === pane.chart.name).map((it) => it.body + it.height));
    const [top, bottom] = [pane.top, both - pane.top <= scroller.clientHeight ? both : pane.body + pane.height];
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = Math.min(top, bottom - scroller.clientHeight);
    state.activeChart.value = pane.chart.id;
}

function Header({ pane }: { pane: Pane }) {
    const { chart, second } = pane;
    const open = !state.closed.value.has(chart.id);
    const zoomed = state.rowWindows.value.has(chart.id);
    const { first, rows } = state.rowsOf(chart);
    const active = state.activeChart.value === chart.id;
    return (
        <div class={`chart-head${active ? " active" : ""}${second ? " second" : ""}`} style={{ top: `${pane.top}px`, height: `${HEADER}px` }}>
            <button type="button" class="twist" aria-expanded={open} aria-label={`${open ? "Close" : "Open"} ${chart.name}`} onClick={() => state.toggleClosed(chart.id)}>
                {open ? "▾" : "▸"}
            </button>
            <strong>{chart.name}</strong>
            {second && <span class="tag">{state.besideOverview.value?.name ?? ""}</span>}
            <span class="facts">{facts(chart, (second ? state.besideOverview : state.overview).value)}</span>
            {zoomed && (
                <button type="button" class="small" onClick={() => state.setRows(chart, { first: 0, rows: chart.rows })}>
                    {`${chart.row_unit} ${chart.first_number + Math.floor(first)}–${chart.first_number + Math.ceil(first + rows) - 1} ✕`}
                </button>
            )}
        </div>
    );
}

function facts(chart: Chart, of: Overview | null): string {
    if (chart.hidden) return `hidden from ${state.overview.value?.seen_by ?? ""}`;
    const isGrid = chart.kind === "grid";
    const rows = counted(chart.rows, chart.row_unit.replace(/s$/, ""), chart.row_unit);
    const parts = [isGrid ? `at most ${rows} at once` : rows];
    if (chart.bands > 1) parts.push(`${compact(chart.bands)} resources`);
    if (chart.scheduler) parts.push(chart.scheduler);
    if (chart.speed !== null && chart.speed !== 1) parts.push(`speed ${chart.speed}`);
    if (chart.utilisation !== null) parts.push(`${percent(chart.utilisation)} used ${timeOfUse(of)}`);
    if (chart.jobs !== null) parts.push(`${counted(chart.jobs, isGrid ? "attempt" : "job")} started`);
    return parts.join(" · ");
}

function gestures(element: HTMLElement, of: Stage) {
    const find = (x: number, y: number): Hit | null => (of.view ? hit(of.drawn, of.view, x, y) : null);
    const paneAt = (y: number) => of.view?.panes.find((it) => y + element.scrollTop >= it.top && y + element.scrollTop < it.body + it.height);
    return {
        axis: () => ({ left: gutter(), width: element.clientWidth - gutter() }),
        wheel: (event: WheelEvent, x: number, y: number) => {
            const pane = paneAt(y);
            if (event.altKey && pane) {
                event.preventDefault();
                state.zoomRows(pane.chart, Math.exp(event.deltaY * 0.002), (y + element.scrollTop - pane.body) / Math.max(pane.height, 1));
                return true;
            }
            // Over the labels the wheel scrolls the list of charts, as the browser does it.
            return x < gutter() && !event.ctrlKey;
        },
        dragY: (by: number, _x: number, y: number) => {
            const pane = paneAt(y);
            if (pane && state.rowWindows.value.has(pane.chart.id)) state.moveRows(pane.chart, (by / pane.height) * state.rowsOf(pane.chart).rows);
            else element.scrollTop += by;
        },
        hover: (x: number, y: number, event: PointerEvent) => {
            const found = find(x, y);
            state.hovered.value = found?.job === ONLY_THERE ? null : (found?.job ?? null);
            crosshair.value = x >= gutter() ? event.clientX : null;
            tip.value = found && of.view ? { x: event.clientX, y: event.clientY, lines: describe(found, of.view, x) } : null;
        },
        leave: () => {
            state.hovered.value = null;
            crosshair.value = null;
            tip.value = null;
        },
        click: (x: number, y: number) => {
            const pane = paneAt(y);
            if (pane) state.activeChart.value = pane.chart.id;
            const found = find(x, y);
            if (!found || !of.view) return;
            if (found.job === ONLY_THERE) state.say("This job is only in the second view.");
            else if (found.job !== null) state.select(found.job);
            else if (found.dense) void askBelow(found, of.view, x);
            else state.select(null);
        },
        double: (x: number, y: number) => {
            const found = find(x, y);
            if (found && found.job !== null && found.job !== ONLY_THERE) state.zoomToJob(found.job);
            else state.zoom(0.25, (x - gutter()) / (element.clientWidth - gutter()));
        },
    };
}

async function askBelow(found: Hit, view: View, x: number): Promise<void> {
    try {
        const answer = await api.at(found.pane.view, found.pane.chart.id, timeOf(view, x), found.row);
        state.select(answer.job);
    } catch (cause) {
        state.complain(cause);
    }
}

const timeOf = (view: View, x: number) => timeAt(view.time, (x - view.gutter) / (view.width - view.gutter));

function describe(found: Hit, view: View, x: number): string[] {
    const { pane, row } = found;
    const pixel = view.time.span / (view.width - view.gutter);
    const bands = bandsIn(bandsOf(pane.view, pane.chart, 0, () => undefined), row, 1);
    const where = bands[0] ? `${bands[0].name}${bands[0].site ? ` (${bands[0].site})` : ""}` : `${pane.chart.row_unit.replace(/s$/, "")} ${pane.chart.first_number + row}`;
    const lines = [`${pane.chart.name}, ${where}`];
    if (found.job !== null) {
        lines.unshift(`${found.job === ONLY_THERE ? "a job of the second view alone" : `job ${found.job}`} · ${styleInWords(found.style)}`);
        const ends = [found.from, found.until].map((it) => (it === null ? "…" : atPixel(it, pixel)));
        lines.push(`${ends[0]} to ${ends[1]}${found.from !== null && found.until !== null ? ` (${duration(found.until - found.from)})` : ""}`);
    } else {
        if (found.mark > 0) lines.unshift(MARKS[found.mark] ?? "");
        if (found.dense) lines.push("jobs narrower than a pixel: click, or zoom in");
        lines.push(atPixel(timeOf(view, x), pixel));
    }
    return lines;
}

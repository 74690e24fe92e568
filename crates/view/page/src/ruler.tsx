/** The time axis above all panes, and the whole run with the window in it. */

import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, type Series } from "./api";
import { fitted, position, timeAt } from "./axis";
import { Canvas, type Drawing } from "./canvas";
import { gutter, plotWidth } from "./measure";
import { Newest } from "./newest";
import { mixed } from "./palette";
import { intervalOn } from "./pointer";
import { asActor, besideVersion, bounds, dataVersion, fit, goTo, overview, pan, time, zoom } from "./state";
import { palette } from "./theme";
import { duration, ticks } from "./ticks";

export function Ruler() {
    const gestures = (element: HTMLElement) => ({
        axis: () => ({ left: gutter(), width: plotWidth.value }),
        double: (x: number) => zoom(0.25, (x - gutter()) / Math.max(element.clientWidth - gutter(), 1)),
    });
    return <Canvas class="ruler" draw={drawRuler} gestures={gestures} label="Time axis" />;
}

function drawRuler({ context, height }: Drawing): void {
    const colours = palette.value;
    const [left, width] = [gutter(), plotWidth.value];
    context.font = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
    context.textBaseline = "middle";
    context.fillStyle = colours.soft;
    context.textAlign = "left";
    if (left > 80) context.fillText(duration(time.value.span), 8, height / 2);
    context.beginPath();
    context.rect(left, 0, width, height);
    context.clip();
    const marked = intervalOn(left, width);
    if (marked) {
        context.fillStyle = mixed(colours.accent, colours.ground, 0.3);
        context.fillRect(marked.left, 0, marked.width, height);
    }
    const { ticks: found, from } = ticks(time.value, width);
    // Behind the label before, and behind the time that labels count from, there is room for others.
    let room = left + 2;
    const write = (text: string, x: number, weight: string) => {
        context.font = `${weight}11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;
        const wide = context.measureText(text).width;
        if (x < room || (room > left + 2 && x + wide > left + width)) return;
        context.fillText(text, x, height / 2 - 1);
        room = x + wide + 6;
    };
    if (from !== null) {
        context.fillStyle = colours.ink;
        write(from, left + 4, "600 ");
    }
    for (const tick of found) {
        const x = left + position(time.value, tick.time) * width;
        context.fillStyle = tick.major ? colours.ink : colours.soft;
        context.fillRect(Math.round(x), height - (tick.major ? 8 : 5), 1, 8);
        write(tick.label, x + 4, tick.major ? "600 " : "");
    }
}

const COLUMNS = 400;

/** The whole run in a strip: how full all charts are, and the window as a frame. */
export function Strip() {
    const load = useSignal<{ readonly id: string; readonly values: readonly number[]; readonly from: number; readonly to: number } | null>(null);
    useEffect(() => {
        const newest = new Newest<Series>();
        let asked = "";
        const stop = effect(() => {
            const here = overview.value;
            // An actor sees the series of its own charts alone.
            const busy = here?.series.filter((it) => it.id.startsWith("busy")) ?? [];
            const wanted = busy.find((it) => it.chart === null) ?? busy[0];
            // The series of another actor's view are not those of this one.
            if (!here || dataVersion.value === null || here.seen_by !== asActor.value) return;
            if (!wanted) {
                asked = "";
                load.value = null;
                return;
            }
            const { from, until } = bounds.value;
            const key = [dataVersion.value, besideVersion.value, wanted.id, from, until].join();
            if (key === asked) return;
            asked = key;
            newest.ask({
                load: (signal) => api.series(here.id, [wanted.id], from, until, COLUMNS, signal),
                then: (found) => {
                    const values = (found.series[0]?.mean ?? []).map((it) => it ?? 0);
                    load.value = { id: wanted.id, values, from: found.from, to: found.to };
                },
                failed: () => {
                    asked = "";
                    load.value = null;
                },
            });
        });
        return () => {
            stop();
            newest.forget();
        };
    }, []);
    const draw = ({ context, height }: Drawing) => {
        const colours = palette.value;
        const [left, width] = [gutter(), plotWidth.value];
        const all = fitted(bounds.value);
        context.fillStyle = colours.band;
        context.fillRect(left, 0, width, height);
        const shown = load.value;
        if (shown) {
            const most = Math.max(...shown.values, 1e-9);
            const x0 = left + position(all, shown.from) * width;
            const step = ((position(all, shown.to) - position(all, shown.from)) * width) / Math.max(shown.values.length, 1);
            context.fillStyle = mixed(colours.dense, colours.ground, 0.55);
            shown.values.forEach((value, at) => {
                const tall = (value / most) * (height - 4);
                context.fillRect(x0 + at * step, height - tall, Math.max(step, 1) + 0.3, tall);
            });
        }
        const from = Math.max(0, position(all, time.value.origin + time.value.offset));
        const until = Math.min(1, position(all, time.value.origin + time.value.offset + time.value.span));
        const [x, wide] = [left + from * width, Math.max((until - from) * width, 3)];
        context.fillStyle = mixed(colours.ground, colours.ground, 1);
        context.globalAlpha = 0.6;
        context.fillRect(left, 0, Math.max(x - left, 0), height);
        context.fillRect(x + wide, 0, Math.max(left + width - x - wide, 0), height);
        context.globalAlpha = 1;
        context.strokeStyle = colours.accent;
        context.lineWidth = 2;
        context.strokeRect(x + 1, 1, Math.max(wide - 2, 1), height - 2);
    };
    const gestures = (element: HTMLElement) => {
        const timeOf = (x: number) => timeAt(fitted(bounds.value), (x - gutter()) / Math.max(plotWidth.value, 1));
        // A drag in the strip moves the frame, which is the other way round than a drag of the charts.
        let before: number | null = null;
        element.addEventListener("pointermove", (event) => {
            if (event.buttons !== 1) return void (before = null);
            if (before !== null) {
                const whole = fitted(bounds.value);
                pan(((event.clientX - before) / Math.max(plotWidth.value, 1)) * (whole.span / time.value.span));
            }
            before = event.clientX;
        });
        return { axis: () => ({ left: gutter(), width: Number.POSITIVE_INFINITY }), click: (x: number) => goTo(timeOf(x)), double: fit };
    };
    return <Canvas class="strip" draw={draw} gestures={gestures} label="The whole run; the frame is the window" />;
}

/** Gestures on a pane with the time axis: the wheel zooms about the pointer, a drag moves, Shift and a drag selects an interval, two fingers zoom. */

import { position, timeAt } from "./axis";
import { interval, pan, time, zoom } from "./state";

export interface Gestures {
    /** Left edge of the time axis and its width within the element, CSS pixels. */
    readonly axis: () => { readonly left: number; readonly width: number };
    /** Wheel over the labels, or with Alt: true if it was used. */
    readonly wheel?: (event: WheelEvent, x: number, y: number) => boolean;
    readonly dragY?: (by: number, x: number, y: number) => void;
    readonly hover?: (x: number, y: number, event: PointerEvent) => void;
    readonly leave?: () => void;
    readonly click?: (x: number, y: number, event: PointerEvent) => void;
    readonly double?: (x: number, y: number) => void;
}

interface Finger {
    x: number;
    y: number;
}

/** Pixels that a press may move and still be a click. */
const CLICK = 4;

export function attach(element: HTMLElement, gestures: Gestures): () => void {
    const fingers = new Map<number, Finger>();
    let start: { x: number; y: number; mode: "press" | "drag" | "interval"; time: number } | null = null;

    const place = (event: MouseEvent) => {
        const box = element.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const share = (x: number) => {
        const { left, width } = gestures.axis();
        return (x - left) / Math.max(width, 1);
    };

    const wheel = (event: WheelEvent) => {
        const { x, y } = place(event);
        if (gestures.wheel?.(event, x, y)) return;
        event.preventDefault();
        const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
        const [across, along] = event.shiftKey ? [event.deltaY + event.deltaX, 0] : [event.deltaX, event.deltaY];
        if (along !== 0 && Math.abs(along) >= Math.abs(across)) zoom(Math.exp(Math.min(Math.max(along * unit, -400), 400) * 0.002), Math.min(Math.max(share(x), 0), 1));
        else if (across !== 0) pan((across * unit) / Math.max(gestures.axis().width, 1));
    };

    const down = (event: PointerEvent) => {
        if (event.button !== 0 || (event.target instanceof Element && event.target.closest("button, input, select, a"))) return;
        const at = place(event);
        fingers.set(event.pointerId, at);
        element.setPointerCapture(event.pointerId);
        start = fingers.size === 1 ? { ...at, mode: event.shiftKey ? "interval" : "press", time: timeAt(time.value, share(at.x)) } : null;
    };

    const move = (event: PointerEvent) => {
        const at = place(event);
        const before = fingers.get(event.pointerId);
        if (!before) return gestures.hover?.(at.x, at.y, event);
        fingers.set(event.pointerId, at);
        const { width } = gestures.axis();
        if (fingers.size === 2) return pinch(event.pointerId, before, at);
        if (!start) return;
        if (start.mode === "press" && Math.hypot(at.x - start.x, at.y - start.y) > CLICK) start.mode = "drag";
        if (start.mode === "interval") {
            const other = timeAt(time.value, share(at.x));
            if (other !== start.time) interval.value = { from: Math.min(start.time, other), until: Math.max(start.time, other) };
        } else if (start.mode === "drag") {
            pan((before.x - at.x) / Math.max(width, 1));
            gestures.dragY?.(before.y - at.y, at.x, at.y);
        }
    };

    const pinch = (moved: number, before: Finger, at: Finger) => {
        const other = [...fingers].find(([id]) => id !== moved)?.[1];
        if (!other) return;
        const [was, is] = [Math.max(Math.abs(before.x - other.x), 10), Math.max(Math.abs(at.x - other.x), 10)];
        zoom(was / is, share((at.x + other.x) / 2));
        pan((before.x - at.x) / 2 / Math.max(gestures.axis().width, 1));
    };

    const up = (event: PointerEvent) => {
        const at = place(event);
        const known = fingers.delete(event.pointerId);
        if (known && start?.mode === "press" && event.type === "pointerup") gestures.click?.(at.x, at.y, event);
        start = null;
    };

    const double = (event: MouseEvent) => {
        const { x, y } = place(event);
        gestures.double?.(x, y);
    };
    const leave = () => gestures.leave?.();

    element.addEventListener("wheel", wheel, { passive: false });
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", up);
    element.addEventListener("pointerleave", leave);
    element.addEventListener("dblclick", double);
    return () => {
        element.removeEventListener("wheel", wheel);
        element.removeEventListener("pointerdown", down);
        element.removeEventListener("pointermove", move);
        element.removeEventListener("pointerup", up);
        element.removeEventListener("pointercancel", up);
        element.removeEventListener("pointerleave", leave);
        element.removeEventListener("dblclick", double);
    };
}

/** Left edge and width of the selected interval on an axis; null without one or outside. */
export function intervalOn(left: number, width: number): { readonly left: number; readonly width: number } | null {
    if (!interval.value) return null;
    const from = left + Math.max(position(time.value, interval.value.from), 0) * width;
    const until = left + Math.min(position(time.value, interval.value.until), 1) * width;
    return until > from ? { left: from, width: Math.max(until - from, 1) } : null;
}

/** A few words beside the pointer. */

import { effect, signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { asActor, besideId, time, viewId } from "./state";

export interface Tip {
    readonly x: number;
    readonly y: number;
    readonly lines: readonly string[];
}

export const tip = signal<Tip | null>(null);

export function Tooltip() {
    const ref = useRef<HTMLDivElement>(null);
    const shown = tip.value;
    // Below a pointer that rests, there is something else now.
    useEffect(
        () =>
            effect(() => {
                void [viewId.value, besideId.value, asActor.value, time.value];
                tip.value = null;
            }),
        [],
    );
    useLayoutEffect(() => {
        const element = ref.current;
        if (!element || !shown) return;
        const { offsetWidth: width, offsetHeight: height } = element;
        const x = Math.max(4, Math.min(shown.x + 14, window.innerWidth - width - 8));
        const y = shown.y + 18 + height > window.innerHeight ? shown.y - height - 10 : shown.y + 18;
        element.style.transform = `translate(${x}px, ${y}px)`;
    });
    if (!shown) return null;
    return (
        <div class="tip" ref={ref} aria-hidden="true">
            {shown.lines.map((line) => (
                <div>{line}</div>
            ))}
        </div>
    );
}

/** A canvas that is as large as its box and is drawn anew when its signals change. */

import { useEffect, useRef } from "preact/hooks";

import type { Gestures } from "./pointer";
import { eachPicture } from "./picture";
import { attach } from "./pointer";

export interface Drawing {
    readonly context: CanvasRenderingContext2D;
    readonly width: number;
    readonly height: number;
}

interface Properties {
    readonly class: string;
    /** Reads signals; called once in a picture after a change, and for each new size. */
    readonly draw: (drawing: Drawing) => void;
    readonly gestures?: (element: HTMLElement) => Gestures;
    readonly label: string;
}

export function Canvas({ class: name, draw, gestures, label }: Properties) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    useEffect(() => {
        const [element, surface] = [box.current, canvas.current];
        const context = surface?.getContext("2d");
        if (!element || !surface || !context) return;
        const paint = () => {
            const [width, height] = [element.clientWidth, element.clientHeight];
            const ratio = Math.min(window.devicePixelRatio || 1, 3);
            const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
            if (surface.width !== w) surface.width = w;
            if (surface.height !== h) surface.height = h;
            context.setTransform(ratio, 0, 0, ratio, 0, 0);
            context.clearRect(0, 0, width, height);
            context.save();
            draw({ context, width, height });
            context.restore();
        };
        let stop = eachPicture(paint);
        const observer = new ResizeObserver(() => {
            stop();
            stop = eachPicture(paint);
        });
        observer.observe(element);
        const detach = gestures ? attach(element, gestures(element)) : () => undefined;
        return () => {
            stop();
            observer.disconnect();
            detach();
        };
    }, []);
    return (
        <div class={name} ref={box} role="img" aria-label={label}>
            <canvas ref={canvas} />
        </div>
    );
}

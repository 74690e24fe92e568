/** Effects that draw: at most once in a picture of the screen. */

import { effect } from "@preact/signals";

/** Draws at once, and again in the picture after a change of the signals that it read. */
export function eachPicture(draw: () => void): () => void {
    let scheduled = 0;
    let stop = () => undefined as void;
    const run = () => {
        stop();
        let drawn = false;
        stop = effect(() => {
            // After a change, the effect reads nothing, so that further changes do not call it.
            if (drawn) scheduled = requestAnimationFrame(run);
            else draw();
            drawn = true;
        });
    };
    run();
    return () => {
        stop();
        cancelAnimationFrame(scheduled);
    };
}

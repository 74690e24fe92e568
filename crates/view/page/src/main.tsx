/** Starts the page. */

import { effect } from "@preact/signals";
import { render } from "preact";
import "uplot/dist/uPlot.min.css";

import { read } from "./address";
import { api } from "./api";
import { App } from "./app";
import { frames, scene, waiting } from "./gantt";
import { bindKeys } from "./keys";
import { watchMessages } from "./messages";
import * as state from "./state";
import { watchTheme } from "./theme";
import "./style.css";

declare global {
    interface Window {
        /** For tests: the drawn scene as data. */
        haggle: { scene: typeof scene; frames: typeof frames; waiting: typeof waiting };
    }
}

async function start(): Promise<void> {
    watchTheme();
    bindKeys();
    render(<App />, document.body);
    window.haggle = { scene, frames, waiting };
    try {
        state.adopt(location.hash);
        const shown = read(location.hash);
        // Asked for at once: the server then begins to read the tables.
        state.asActor.value = shown.as;
        const early = api.overview(shown.view).catch(() => null);
        await state.loadViews();
        await state.restore(shown, early);
    } catch (cause) {
        state.complain(cause);
    }
    state.watch();
    watchMessages();
    state.waitForTables();
    state.followChanges();
    const follow = () => {
        if (!state.isForeign(location.hash)) return;
        state.adopt(location.hash);
        state.restore(read(location.hash)).catch(state.complain);
    };
    window.addEventListener("hashchange", follow);
    // It may have changed before.
    follow();
    effect(() => {
        const name = state.overview.value?.name;
        document.title = name ? `${name} – haggle` : "haggle view";
    });
}

void start();

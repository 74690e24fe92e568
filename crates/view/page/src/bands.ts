/** Names of the bands of grids, read page by page when they can be seen. */

import { api, type Band, type Chart } from "./api";

const PAGE = 5000;
const known = new Map<string, { bands: Band[]; complete: boolean; reading: boolean }>();

/** The bands that are known; reads more if the chart has more. */
export function bandsOf(view: number, chart: Chart, version: number, changed: () => void): readonly Band[] {
    if (chart.bands <= 1) return [];
    const name = `${view}|${chart.id}|${chart.bands}|${chart.rows}|${version === 0 ? 0 : chart.rows}`;
    let entry = known.get(name);
    if (!entry) {
        entry = { bands: [], complete: false, reading: false };
        known.set(name, entry);
    }
    if (!entry.complete && !entry.reading) {
        entry.reading = true;
        const here = entry;
        void api
            .bands(view, chart.id, here.bands.length, PAGE)
            .then((page) => {
                here.bands.push(...page);
                here.complete = page.length < PAGE;
            })
            .catch(() => {
                here.complete = true;
            })
            .finally(() => {
                here.reading = false;
                changed();
            });
    }
    return entry.bands;
}

/** Bands that meet some rows, found by halving because there may be 100,000. */
export function bandsIn(bands: readonly Band[], first: number, rows: number): readonly Band[] {
    let [low, high] = [0, bands.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        const band = bands[middle];
        if (band && band.first_row + band.rows <= first) low = middle + 1;
        else high = middle;
    }
    const found: Band[] = [];
    for (let at = low; at < bands.length; at += 1) {
        const band = bands[at];
        if (!band || band.first_row >= first + rows) break;
        found.push(band);
    }
    return found;
}

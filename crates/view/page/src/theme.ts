/** Light or dark by the system, or by the switch. */

import { computed, effect, signal } from "@preact/signals";

import { DARK, LIGHT, type Palette } from "./palette";
import { theme } from "./state";

const media = window.matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(media.matches);
media.addEventListener("change", (event) => (systemDark.value = event.matches));

export const dark = computed(() => (theme.value === "auto" ? systemDark.value : theme.value === "dark"));
export const palette = computed<Palette>(() => (dark.value ? DARK : LIGHT));

export function toggleTheme(): void {
    theme.value = dark.value ? "light" : "dark";
}

export function watchTheme(): void {
    effect(() => {
        document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
    });
}

/** Colours of the figures (Okabe and Ito 2008), and the grounds of both themes. */

export interface Palette {
    readonly ground: string;
    readonly band: string;
    readonly ink: string;
    readonly soft: string;
    readonly line: string;
    readonly accent: string;
    readonly workloads: readonly string[];
    readonly differences: readonly string[];
    readonly lost: string;
    readonly failure: string;
    readonly maintenance: string;
    readonly kept: string;
    readonly broken: string;
    readonly dense: string;
}

const WORKLOADS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#707070", "#f0e442"];

export const LIGHT: Palette = {
    ground: "#ffffff",
    band: "#f4f6f8",
    ink: "#1b1f24",
    soft: "#57606a",
    line: "#d5dae0",
    accent: "#0b62a4",
    workloads: WORKLOADS,
    differences: ["#707070", "#b9c0c8", "#0072b2", "#e69f00", "#aa4499", "#d55e00"],
    lost: "#a01818",
    failure: "#8a8f96",
    maintenance: "#b59a4a",
    kept: "#006b4e",
    broken: "#b3261e",
    dense: "#0072b2",
};

export const DARK: Palette = {
    ground: "#12161b",
    band: "#181d23",
    ink: "#e8ecf0",
    soft: "#a3adb8",
    line: "#2f3740",
    accent: "#6cb8f0",
    workloads: ["#2d94d6", "#e8772a", "#22b78c", "#d98cb6", "#7cc7f0", "#efb02e", "#9aa1a8", "#f0e442"],
    differences: ["#9aa1a8", "#4a525b", "#4fa8e3", "#efb02e", "#cc7ac2", "#e8772a"],
    lost: "#ff7b72",
    failure: "#7d858e",
    maintenance: "#a58c43",
    kept: "#3fd0a3",
    broken: "#ff6b5e",
    dense: "#3d9fdf",
};

/** Red, green and blue from 0 to 1. */
export function rgb(hex: string): [number, number, number] {
    const bits = Number.parseInt(hex.slice(1), 16);
    return [((bits >> 16) & 255) / 255, ((bits >> 8) & 255) / 255, (bits & 255) / 255];
}

/** Black or white, the more readable one on a colour (weights of ITU-R BT.601). */
export function textOn(hex: string): string {
    const [red, green, blue] = rgb(hex);
    return 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 ? "#000000" : "#ffffff";
}

/** A colour mixed with a ground: 0 = ground, 1 = colour. */
export function mixed(colour: string, ground: string, share: number): string {
    const [one, other] = [rgb(colour), rgb(ground)];
    const channel = (at: 0 | 1 | 2) => Math.round(255 * (other[at] + (one[at] - other[at]) * share));
    return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}

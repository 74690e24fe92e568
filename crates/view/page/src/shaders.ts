/** Programs of the graphics card. Patterns are those of the figures and continue from bar to bar and from tile to tile. */

export const BOXES = `#version 300 es
precision highp float;
precision highp int;
in float a_start;
in float a_end;
in uint a_row;
in uint a_rows;
in uint a_style;
uniform vec4 u_place; // x0, x scale, y0, y scale
uniform vec2 u_canvas;
uniform int u_mode;   // 0 bars, 1 marks, 2 promises
uniform float u_ratio;
flat out vec4 v_box;
flat out uint v_style;
out vec2 v_at;
void main() {
    vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    float left = u_place.x + u_place.y * a_start;
    float right = u_place.x + u_place.y * a_end;
    float top = u_place.z + u_place.w * float(a_row);
    float bottom = top + max(u_place.w * float(a_rows), 1.0);
    if (u_mode == 2) {
        left -= 4.0 * u_ratio;
        right = left + 8.0 * u_ratio;
    } else {
        right = max(right, left + 1.0);
    }
    v_box = vec4(left, top, right, bottom);
    v_style = a_style;
    v_at = mix(v_box.xy, v_box.zw, corner);
    gl_Position = vec4(v_at / u_canvas * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
}`;

export const FILL = `#version 300 es
precision highp float;
precision highp int;
flat in vec4 v_box;
flat in uint v_style;
in vec2 v_at;
uniform int u_mode;
uniform vec2 u_shift; // from a pixel to its place in the patterns
uniform float u_ratio;
uniform vec3 u_workloads[8];
uniform vec3 u_differences[6];
uniform vec3 u_ground;
uniform vec3 u_ink;
uniform vec3 u_lost;
uniform vec3 u_marks[4];
uniform vec3 u_promises[4];
out vec4 colour;

bool each(float value, float step, float width) { return mod(value, step * u_ratio) < width * u_ratio; }

bool pattern(uint number) {
    float x = v_at.x + u_shift.x;
    float y = v_at.y + u_shift.y;
    if (number == 1u) return each(x + y, 12.0, 1.4);
    if (number == 2u) return each(y, 9.0, 1.0);
    if (number == 3u) return each(x + y, 14.0, 1.4) || each(x - y, 14.0, 1.4);
    if (number == 4u) return each(x, 9.0, 1.0);
    if (number == 5u) return each(x - y, 12.0, 1.4);
    if (number == 6u) return each(x, 12.0, 1.0) || each(y, 12.0, 1.0);
    if (number == 7u) return each(x + y, 6.0, 1.2);
    return false;
}

vec3 on(vec3 ground) { return dot(ground, vec3(0.299, 0.587, 0.114)) > 0.55 ? vec3(0.0) : vec3(1.0); }

void promise() {
    vec2 from = v_at - vec2(0.5 * (v_box.x + v_box.z), 0.5 * (v_box.y + v_box.w));
    float tall = min(0.5 * (v_box.w - v_box.y), 6.0 * u_ratio);
    float down = v_at.y - v_box.y;
    vec3 ink = u_promises[v_style & 3u];
    bool line = abs(from.x) < 0.75 * u_ratio;
    bool drawn = false;
    // A kept promise is a small triangle at the upper edge, a broken one crosses the whole bar.
    if (v_style == 1u) drawn = v_box.w - v_box.y >= 5.0 * u_ratio && down < tall && abs(from.x) < (tall - down) * 0.6;
    if (v_style == 2u) drawn = abs(from.x) < 1.0 * u_ratio || (abs(from.y) < tall && abs(abs(from.x) - abs(from.y)) < 1.0 * u_ratio && abs(from.x) < 4.0 * u_ratio);
    if (v_style == 3u) drawn = line && each(v_at.y + u_shift.y, 6.0, 3.0);
    if (!drawn) discard;
    colour = vec4(ink, 1.0);
}

void mark() {
    vec3 ink = u_marks[v_style & 3u];
    vec2 at = v_at + u_shift;
    bool line = v_style == 2u ? each(at.x - at.y, 8.0, 2.0) : each(at.x + at.y, 8.0, 2.0);
    if (v_style == 3u) line = line || each(at.x - at.y, 8.0, 2.0);
    colour = vec4(mix(u_ground, ink, line ? 0.95 : 0.28), 1.0);
}

void bar() {
    float width = v_box.z - v_box.x;
    float height = v_box.w - v_box.y;
    bool roomy = width >= 4.0 * u_ratio && height >= 4.0 * u_ratio;
    uint difference = (v_style >> 8) & 7u;
    uint workload = (v_style >> 16) & 7u;
    bool lost = (v_style & 16u) != 0u;
    bool running = (v_style & 32u) != 0u;
    bool planned = (v_style & 64u) != 0u;
    bool givenUp = (v_style & 128u) != 0u;
    vec3 base = difference != 0u ? u_differences[min(difference, 5u)] : u_workloads[workload];
    vec3 fill = base;
    vec2 at = v_at + u_shift;
    if (lost) {
        fill = mix(u_ground, u_lost, each(at.x + at.y, 7.0, 2.4) ? 1.0 : 0.22);
        base = u_lost;
    } else if (givenUp) {
        fill = mix(u_ground, base, each(at.x, 6.0, 2.0) ? 0.9 : 0.25);
    } else if (planned) {
        fill = mix(u_ground, base, 0.14);
    } else if (roomy) {
        uint number = difference == 0u ? workload : difference == 2u ? 5u : difference == 3u ? 1u : difference == 4u ? 3u : difference == 5u ? 2u : 0u;
        if (pattern(number)) fill = mix(base, on(base), 0.38);
    }
    vec4 edge = vec4(v_at.x - v_box.x, v_at.y - v_box.y, v_box.z - v_at.x, v_box.w - v_at.y);
    float near = min(min(edge.x, edge.y), min(running ? 1e6 : edge.z, edge.w));
    vec3 rim = planned ? base : mix(base, u_ink, 0.45);
    if (width >= 3.0 * u_ratio && height >= 3.0 * u_ratio && near < u_ratio) fill = rim;
    else if (width < 3.0 * u_ratio && width >= 2.0 && edge.x < 1.0) fill = rim;
    uint sort = v_style & 15u;
    if (sort == 1u && roomy && height >= 7.0 * u_ratio && edge.w < 3.0 * u_ratio && edge.w >= u_ratio) fill = on(base);
    if (sort == 3u && roomy && near >= 2.0 * u_ratio && near < 3.0 * u_ratio) fill = on(base);
    if (sort == 5u && roomy && near < 2.0 * u_ratio && each(at.x + at.y, 6.0, 3.0)) fill = u_ground;
    if (running && edge.z < 6.0 * u_ratio && width > 12.0 * u_ratio) fill = mix(fill, u_ground, 0.6 * (1.0 - edge.z / (6.0 * u_ratio)));
    colour = vec4(fill, 1.0);
}

void main() {
    if (u_mode == 2) promise();
    else if (u_mode == 1) mark();
    else bar();
}`;

export const SHEET = `#version 300 es
precision highp float;
uniform vec4 u_box; // left, top, right, bottom
uniform vec2 u_canvas;
out vec2 v_share;
out vec2 v_at;
void main() {
    v_share = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
    v_at = mix(u_box.xy, u_box.zw, v_share);
    gl_Position = vec4(v_at / u_canvas * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
}`;

export const SHADES = `#version 300 es
precision highp float;
in vec2 v_share;
in vec2 v_at;
uniform sampler2D u_busy;
uniform sampler2D u_lostCells;
uniform vec3 u_ground;
uniform vec3 u_dense;
uniform vec3 u_lost;
uniform float u_ratio;
uniform vec2 u_shift;
out vec4 colour;
void main() {
    float busy = texture(u_busy, v_share).r;
    float lost = texture(u_lostCells, v_share).r;
    if (busy <= 0.0 && lost <= 0.0) discard;
    vec3 shade = mix(u_ground, u_dense, busy <= 0.0 ? 0.0 : 0.12 + 0.88 * busy);
    bool line = mod(v_at.x + v_at.y + u_shift.x + u_shift.y, 7.0 * u_ratio) < 2.4 * u_ratio;
    if (lost > 0.0) shade = mix(shade, u_lost, (line ? 1.0 : 0.35) * (0.25 + 0.75 * lost));
    colour = vec4(shade, 1.0);
}`;

export const COPY = `#version 300 es
precision highp float;
in vec2 v_share;
uniform sampler2D u_sheet;
out vec4 colour;
void main() {
    // The first row of a texture that was drawn is the lowest one.
    colour = texture(u_sheet, vec2(v_share.x, 1.0 - v_share.y));
}`;

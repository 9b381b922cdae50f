/* HTML and SVG of a report: escaping, tables, charts, and how it looks in light, dark and print. */
#include "report_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------ */

void html_text(cli_text *page, const char *string) {
    for (const char *c = string; *c; c++) {
        switch (*c) {
        case '<':
            text_puts(page, "&lt;");
            break;
        case '>':
            text_puts(page, "&gt;");
            break;
        case '&':
            text_puts(page, "&amp;");
            break;
        case '"':
            text_puts(page, "&quot;");
            break;
        case '\'':
            text_puts(page, "&#39;");
            break;
        default:
            if ((unsigned char)*c >= 0x20 && *c != 0x7f) text_add(page, c, 1);
        }
    }
}

void html_number(cli_text *page, double value) {
    if (isnan(value))
        text_puts(page, "&ndash;");
    else
        text_short(page, value);
}

static const char style[] =
    ":root{--back:#fff;--text:#1b1f24;--pale:#5a6470;--line:#d4d9df;--block:#f4f6f8;--c0:#0072b2;"
    "--c1:#b34700;--c2:#007a5a;--c3:#9c3f7c}"
    "@media(prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e9ed;--pale:#a2acb8;"
    "--line:#3a424c;--block:#1e2329;--c0:#5fb8f0;--c1:#ff9a57;--c2:#3fd1a4;--c3:#ea9ccc}}"
    "@media print{:root{--back:#fff;--text:#000;--pale:#444;--line:#bbb;--block:#fff;--c0:#0072b2;"
    "--c1:#b34700;--c2:#007a5a;--c3:#9c3f7c}section,figure,tr{break-inside:avoid}}"
    "*{box-sizing:border-box}html{color-scheme:light dark}body{margin:0 auto;padding:1rem;"
    "max-width:60rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}"
    "h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0;overflow-wrap:anywhere}"
    "h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}"
    "p{margin:.5rem 0;max-width:45rem}.pale{color:var(--pale)}"
    ".wide{overflow-x:auto;margin:.5rem 0}table{border-collapse:collapse;font-size:.9rem}"
    "th,td{padding:.25rem .7rem .25rem 0;text-align:left;border-bottom:1px solid var(--line);"
    "white-space:nowrap;vertical-align:top}th{color:var(--pale);font-weight:600}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}"
    "code,pre{font:.9rem/1.5 ui-monospace,monospace;overflow-wrap:anywhere}"
    "pre{background:var(--block);padding:.7rem;white-space:pre-wrap;border-radius:.3rem}"
    ".charts{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;flex:1 1 18rem;max-width:28rem}"
    "figcaption{color:var(--pale);font-size:.9rem}svg{width:100%;height:auto;display:block}"
    "svg text{fill:var(--pale);font:11px system-ui,sans-serif}.axis{stroke:var(--line);fill:none}"
    ".guide{stroke:var(--pale);stroke-dasharray:3 3}.bar{display:inline-block;height:.7rem;"
    "background:var(--c0)}.bar.less{background:var(--c1)}";

void html_begin(cli_text *page, const char *title) {
    text_puts(page, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<title>");
    html_text(page, title);
    text_printf(page, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
    html_text(page, title);
    text_puts(page, "</h1>\n");
}

void html_end(cli_text *page) {
    text_printf(page, "<p class=\"pale\">Written by margin %s.</p>\n</body>\n</html>\n",
                margin_version());
}

void html_section(cli_text *page, const char *heading) {
    text_puts(page, "<h2>");
    html_text(page, heading);
    text_puts(page, "</h2>\n");
}

void html_say(cli_text *page, const char *words) {
    text_puts(page, "<p>");
    html_text(page, words);
    text_puts(page, "</p>\n");
}

/* ---- Tables ---------------------------------------------------------------------------------- */

void html_table(cli_text *page, const char *heads) {
    text_puts(page, "<div class=\"wide\"><table>\n<tr>");
    for (const char *at = heads; *at;) {
        const size_t length = strcspn(at, "|");
        text_printf(page, "<th>%.*s</th>", (int)length, at);
        at += length + (at[length] == '|');
    }
    text_puts(page, "</tr>\n");
}

void html_table_end(cli_text *page) {
    text_puts(page, "</table></div>\n");
}

void html_cell(cli_text *page, const char *string) {
    text_puts(page, "<td>");
    html_text(page, string);
    text_puts(page, "</td>");
}

void html_cell_number(cli_text *page, double value) {
    text_puts(page, "<td class=\"n\">");
    html_number(page, value);
    text_puts(page, "</td>");
}

/* ---- Charts ---------------------------------------------------------------------------------- */

enum { WIDTH = 360, HEIGHT = 260, LEFT = 52, RIGHT = 10, TOP = 10, BOTTOM = 42 };

static double place_x(const chart *c, double x) {
    return LEFT + (x - c->low[0]) / (c->high[0] - c->low[0]) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const chart *c, double y) {
    return HEIGHT - BOTTOM - (y - c->low[1]) / (c->high[1] - c->low[1]) * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that about five fit. */
static double tick_step(double range) {
    const double rough = range / 5, power = pow(10, floor(log10(rough)));
    return rough > 5 * power   ? 10 * power
           : rough > 2 * power ? 5 * power
           : rough > power     ? 2 * power
                               : power;
}

static void put_ticks(const chart *c, int axis) {
    const double step = tick_step(c->high[axis] - c->low[axis]);
    for (double k = ceil(c->low[axis] / step); k * step <= c->high[axis] + 1e-9 * step; k++) {
        if (axis == 0)
            text_printf(c->page, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                        place_x(c, k * step), HEIGHT - BOTTOM + 15);
        else
            text_printf(c->page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6,
                        place_y(c, k * step) + 4);
        text_printf(c->page, "%.4g</text>", k == 0 ? 0.0 : k * step);
    }
}

void chart_begin(chart *c, cli_text *page, const char *title, const char *x, const char *y,
                 const double low[2], const double high[2]) {
    c->page = page;
    for (int k = 0; k < 2; k++) {
        const bool flat = !(high[k] > low[k]);
        c->low[k] = flat ? low[k] - 0.5 : low[k];
        c->high[k] = flat ? low[k] + 0.5 : high[k];
    }
    text_printf(page, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, HEIGHT);
    html_text(page, title);
    text_printf(page, "</title><path class=\"axis\" d=\"M%d %dV%dH%d\"/>", LEFT, TOP,
                HEIGHT - BOTTOM, WIDTH - RIGHT);
    put_ticks(c, 0);
    put_ticks(c, 1);
    text_printf(page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 8);
    html_text(page, x);
    text_printf(page,
                "</text><text transform=\"translate(12 %d)rotate(-90)\" text-anchor=\"middle\">",
                (TOP + HEIGHT - BOTTOM) / 2);
    html_text(page, y);
    text_puts(page, "</text>");
}

void chart_line(const chart *c, const double *x, const double *y, int64_t count, int colour) {
    text_puts(c->page, "<polyline fill=\"none\" stroke-width=\"2\" points=\"");
    for (int64_t k = 0; k < count; k++)
        text_printf(c->page, "%.1f,%.1f ", place_x(c, x[k]), place_y(c, y[k]));
    text_printf(c->page, "\" style=\"stroke:var(--c%d)\"/>", colour & 3);
}

void chart_points(const chart *c, const double *x, const double *y, int64_t count, int colour) {
    text_printf(c->page, "<g style=\"fill:var(--c%d)\" fill-opacity=\".6\">", colour & 3);
    for (int64_t k = 0; k < count; k++)
        text_printf(c->page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>", place_x(c, x[k]),
                    place_y(c, y[k]));
    text_puts(c->page, "</g>");
}

void chart_guide(const chart *c, double x0, double y0, double x1, double y1) {
    text_printf(c->page, "<path class=\"guide\" d=\"M%.1f %.1fL%.1f %.1f\"/>", place_x(c, x0),
                place_y(c, y0), place_x(c, x1), place_y(c, y1));
}

void chart_caption(const chart *c, const char *words) {
    text_puts(c->page, "</svg><figcaption>");
    html_text(c->page, words);
}

void chart_name(const chart *c, const char *name, int colour) {
    text_printf(c->page, " <b style=\"color:var(--c%d)\">", colour & 3);
    html_text(c->page, name);
    text_puts(c->page, "</b>");
}

void chart_end(const chart *c) {
    text_puts(c->page, "</figcaption></figure>\n");
}

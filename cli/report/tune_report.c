#include "cli/report/tune_view.h"

#include "cli/report/chart.h"
#include "cli/report/tune_parts.h"
#include "cli/terminal/markup.h"
#include "cli/terminal/output.h"

/* ---- the page ---- */

/* The colours of the two sets are variables: a browser reads this, unlike a picture of its own. */
static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#24292f;--muted:#5b6570;--line:#dfe3e8;"
    "--soft:#f4f6f8;--good:#1a7f45;--warn:#a3590a;--stop:#b3263c}"
    "body{margin:0 auto;padding:1.2rem 1rem 3rem;max-width:1200px;background:var(--back);"
    "color:var(--text);font:15px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.5rem;margin:0 0 .6rem;overflow-wrap:anywhere}"
    "h2{font-size:1.1rem;margin:2rem 0 .5rem}"
    "p{margin:.3rem 0 .7rem;max-width:46rem}small,.key{color:var(--muted);font-size:.85em}"
    "code{font:.92em ui-monospace,monospace;overflow-wrap:anywhere}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0}"
    "dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}"
    ".beside{display:flex;flex-wrap:wrap;gap:0 2.5rem}.beside section{flex:1 1 20rem}"
    ".wide{overflow-x:auto}svg.chart{display:block;width:100%;max-width:560px;height:auto}"
    "table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums}"
    ".rank td,.rank th{padding:.22rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
    "white-space:nowrap}"
    ".rank th{color:var(--muted);font-weight:600;text-align:right}.rank th.l{text-align:left}"
    ".rank td.n{text-align:right}.rank .bar{color:var(--muted)}.rank "
    "td.why{white-space:normal;min-width:9rem}"
    ".win td{background:var(--soft);font-weight:600}"
    ".st{color:var(--stop)}.st.ok{color:var(--good)}.st.pruned{color:var(--muted)}"
    ".st.resources,.st.compile{color:var(--warn)}"
    ".maps{display:flex;flex-wrap:wrap;gap:1.2rem 2rem;align-items:flex-start}"
    ".maps .wide{max-width:100%}"
    ".heat caption{text-align:left;color:var(--muted);white-space:nowrap;padding-bottom:.2rem}"
    ".heat td,.heat th{padding:.28rem .5rem;text-align:right;min-width:2.6rem;white-space:nowrap}"
    ".heat th{color:var(--muted);font-weight:600}.heat td{border:1px solid var(--back)}"
    ".key span{padding:.05rem .4rem;border-radius:3px;white-space:nowrap}"
    ".none{background:var(--soft)}"
    ".bad{color:var(--stop)}.skip{color:var(--muted)}.bad,.skip{font-size:.85em;background:"
    "repeating-linear-gradient(135deg,"
    "var(--soft) 0 5px,var(--line) 5px 6px)}"
    ".h0{background:#0b4f8a;color:#fff}.h1{background:#1c68ab;color:#fff}"
    ".h2{background:#3a86c8;color:#fff}.h3{background:#6aa9dc;color:#06233d}"
    ".h4{background:#98c4e8;color:#06233d}.h5{background:#c0daf0;color:#06233d}"
    ".h6{background:#dceaf6;color:#06233d}.h7{background:#eff4f9;color:#33404d}"
    "@media screen and (prefers-color-scheme:dark){"
    ":root{--back:#16191d;--text:#e6e9ec;--muted:#a5aeb8;--line:#343b43;--soft:#20252b;"
    "--good:#5bc47f;--warn:#f0a95b;--stop:#f07c90}"
    ".h0{background:#8fd0ff;color:#06233d}.h1{background:#6cb6f0;color:#06233d}"
    ".h2{background:#4b9add;color:#06131f}.h3{background:#347dbd;color:#fff}"
    ".h4{background:#29649a;color:#fff}.h5{background:#224e77;color:#fff}"
    ".h6{background:#1d3b57;color:#dfe8f0}.h7{background:#1b2c3d;color:#c5d0da}}"
    "@media print{body{max-width:none;padding:0;font-size:10pt}section{break-inside:auto}"
    "svg,tr,.maps .wide{break-inside:avoid}.wide{overflow:visible}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

static void begin_page(Text *out, const TuneView *v) {
  text_puts(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
            "<meta http-equiv=\"Content-Security-Policy\" "
            "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n<title>");
  markup_text(out, v->kernel);
  text_puts(out, " on ");
  markup_text(out, v->device);
  text_printf(out, "</title>\n<style>%s%s</style></head><body>\n", style, chart_style);
}

/* ---- what was tuned ---- */

static void put_arguments(Text *out, const TuneView *v) {
  if (!v->nargs) return;
  text_puts(out, "<dt>arguments</dt><dd><code>");
  for (int i = 0; i < v->nargs; i++) {
    text_puts(out, i ? " " : "");
    markup_text(out, v->args[i].name);
    text_puts(out, "=");
    markup_text(out, v->args[i].value);
  }
  text_puts(out, "</code></dd>\n");
}

static void put_best(Text *out, const TuneView *v) {
  const nereid_candidate *best = tune_best(v);
  char us[TUNE_NUMBER];
  if (!best) {
    text_puts(out, "<dt>best</dt><dd>none of the candidates ran</dd>\n");
    return;
  }
  Text config = text_new(out->arena);
  tune_config_text(&config, best);
  text_puts(out, "<dt>best</dt><dd><code>");
  markup_text(out, config.data);
  tune_us(us, tune_is_measured(best) ? best->median_us : best->predicted_us);
  text_printf(out, "</code>, %s us%s</dd>\n", us, tune_is_measured(best) ? "" : " predicted");
}

static void put_counts(Text *out, const TuneView *v) {
  int counts[NEREID_TUNE_PRUNED + 1] = {0};
  for (int i = 0; i < v->n; i++) counts[v->candidates[i]->status]++;
  text_printf(out, "<dt>candidates</dt><dd>%d:", v->n);
  const char *comma = "";
  for (int s = 0; s <= NEREID_TUNE_PRUNED; s++) {
    if (!counts[s]) continue;
    text_printf(out, "%s %d %s", comma, counts[s], nereid_tune_status_name(s));
    comma = ",";
  }
  text_puts(out, "</dd>\n");
}

static void put_summary(Text *out, const TuneView *v) {
  text_puts(out, "<h1>");
  markup_text(out, v->kernel);
  text_puts(out, "</h1>\n<dl>\n<dt>device</dt><dd>");
  markup_text(out, v->device);
  text_puts(out, "</dd>\n");
  put_arguments(out, v);
  text_puts(out, "<dt>times from</dt><dd>");
  markup_text(out, v->source);
  text_puts(out, "</dd>\n");
  put_counts(out, v);
  put_best(out, v);
  text_puts(out, "</dl>\n");
}

void tune_report(Text *out, const TuneView *v) {
  begin_page(out, v);
  put_summary(out, v);
  tune_ranking(out, v);
  tune_heat_maps(out, v);
  text_puts(out, "<div class=\"beside\">\n");
  tune_scatter(out, v);
  tune_roofline(out, v);
  text_puts(out, "</div>\n");
  text_puts(out, "</body></html>\n");
}

static void print_tune_report(Text *out, const void *v) { tune_report(out, v); }

int tune_report_write(const char *path, const TuneView *v) {
  return output_print(path, print_tune_report, v);
}

/** Value formats of alert action settings. Source: the vendor's `alert_actions.conf.spec`. */
import { type Formats, flag, integer, matchingPattern, oneOf, period, text, timeToLive } from "./formats.ts";

const flags = [
  ...["email", "lookup", "populate_lookup", "rss", "script", "summary_index", "webhook"],
  ...["email.allow_empty_attachment", "email.include.results_link", "email.include.search"],
  ...["email.include.trigger", "email.include.trigger_time", "email.include.view_link", "email.inline"],
  ...["email.pdf.footer_enabled", "email.pdf.header_enabled", "email.pdf.html_image_rendering"],
  ...["email.reportIncludeSplunkLogo", "email.sendcsv", "email.sendpdf", "email.sendpng"],
  ...["email.sendresults", "email.track_alert", "email.useNSSubject", "email.use_ssl", "email.use_tls"],
  ...["email.width_sort_columns", "lookup.append", "script.track_alert", "webhook.track_alert"],
  ...["summary_index.force_realtime_schedule", "summary_index.inline", "summary_metric_index.inline"],
];
const actions = ["email", "lookup", "populate_lookup", "rss", "script"];
const summaries = ["summary_index", "summary_metric_index", "webhook"];
const webAddress = matchingPattern(
  /^(https?:\/\/[^\s/]|\$)[^\s]*$/i,
  "an http or https address, or tokens that stand for one",
);

const withPrefix = (formats: Formats): Formats =>
  Object.fromEntries(Object.entries(formats).map(([name, format]) => [`action.${name}`, format]));

export const actionFormats: Formats = withPrefix({
  ...Object.fromEntries(flags.map((name) => [name, flag])),
  ...Object.fromEntries([...actions, ...summaries].map((name) => [`${name}.ttl`, timeToLive])),
  ...Object.fromEntries([...actions, ...summaries].map((name) => [`${name}.maxtime`, period])),
  ...Object.fromEntries([...actions, ...summaries].map((name) => [`${name}.maxresults`, integer()])),
  summary_metric_index: flag,
  "email.content_type": oneOf("html", "plain"),
  "email.format": oneOf("table", "raw", "csv", "plain", "html"),
  "email.priority": oneOf("1", "2", "3", "4", "5", "highest", "high", "normal", "low", "lowest"),
  "email.reportPaperOrientation": oneOf("portrait", "landscape"),
  "email.reportPaperSize": oneOf("letter", "legal", "ledger", "a2", "a3", "a4", "a5"),
  "email.to": text,
  "summary_index._type": oneOf("event", "metric"),
  "webhook.param.url": webAddress,
});

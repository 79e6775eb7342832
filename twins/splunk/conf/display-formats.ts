/** Value formats of a saved search's display settings. Source: the vendor's `savedsearches.conf.spec`. */
import {
  decimal,
  type Format,
  type Formats,
  flag,
  integer,
  list,
  matchingPattern,
  oneOf,
  text,
} from "./formats.ts";

const number = integer();
const ratio = decimal();
const orAuto = decimal("auto");
const visibility = oneOf("visible", "collapsed");
const drilldown = oneOf("all", "none");
const scale = oneOf("linear", "log");
const abbreviation = oneOf("none", "auto");
const eventDrilldown = oneOf("inner", "outer", "full", "none");
const charts = [
  ...["line", "area", "column", "bar", "pie", "scatter", "bubble"],
  ...["radialGauge", "fillerGauge", "markerGauge"],
];

const withPrefix = (prefix: string, formats: Formats): Formats =>
  Object.fromEntries(Object.entries(formats).map(([name, format]) => [`display.${prefix}.${name}`, format]));

/** Gives the axes x, y and y2 the same format. */
const axes = (name: (axis: string) => string, format: Format): Formats =>
  Object.fromEntries(["X", "Y", "Y2"].map((axis) => [name(axis), format]));

export const displayFormats: Formats = {
  ...withPrefix("general", {
    enablePreview: flag,
    migratedFromViewState: flag,
    "timeRangePicker.show": flag,
    type: oneOf("events", "statistics", "visualizations"),
  }),
  ...withPrefix("events", {
    fields: list,
    "list.drilldown": eventDrilldown,
    "list.wrap": flag,
    maxLines: number,
    "raw.drilldown": eventDrilldown,
    rowNumbers: flag,
    "table.drilldown": flag,
    "table.wrap": flag,
    type: oneOf("raw", "list", "table"),
  }),
  ...withPrefix("page.search", {
    mode: oneOf("fast", "smart", "verbose"),
    "patterns.sensitivity": ratio,
    showFields: flag,
    tab: oneOf("events", "statistics", "visualizations", "patterns"),
    "timeline.format": oneOf("hidden", "compact", "full"),
    "timeline.scale": scale,
  }),
  ...withPrefix("statistics", {
    drilldown: oneOf("row", "cell", "none"),
    overlay: oneOf("none", "heatmap", "highlow"),
    percentagesRow: flag,
    rowNumbers: flag,
    show: flag,
    totalsRow: flag,
    wrap: flag,
  }),
  ...withPrefix("visualizations", {
    chartHeight: number,
    "custom.drilldown": drilldown,
    "custom.height": number,
    "custom.type": text,
    mapHeight: number,
    show: flag,
    singlevalueHeight: number,
    "trellis.enabled": flag,
    "trellis.scales.shared": flag,
    "trellis.size": oneOf("small", "medium", "large"),
    "trellis.splitBy": text,
    type: oneOf("charting", "singlevalue", "mapping", "custom"),
  }),
  ...withPrefix("visualizations.charting", {
    ...axes((axis) => `axisLabels${axis}.majorUnit`, orAuto),
    "axisLabelsX.majorLabelStyle.overflowMode": oneOf("ellipsisMiddle", "ellipsisNone"),
    "axisLabelsX.majorLabelStyle.rotation": oneOf("-90", "-45", "0", "45", "90"),
    ...axes((axis) => `axisTitle${axis}.text`, text),
    ...axes((axis) => `axisTitle${axis}.visibility`, visibility),
    ...axes((axis) => `axis${axis}.abbreviation`, abbreviation),
    ...axes((axis) => `axis${axis}.maximumNumber`, orAuto),
    ...axes((axis) => `axis${axis}.minimumNumber`, orAuto),
    ...axes((axis) => `axis${axis}.scale`, scale),
    "axisY2.enabled": flag,
    "axisY2.scale": oneOf("linear", "log", "inherit"),
    chart: oneOf(...charts),
    "chart.bubbleMaximumSize": number,
    "chart.bubbleMinimumSize": number,
    "chart.bubbleSizeBy": oneOf("area", "diameter"),
    "chart.nullValueMode": oneOf("gaps", "zero", "connect"),
    "chart.overlayFields": text,
    "chart.rangeValues": list,
    "chart.showDataLabels": oneOf("all", "none", "minmax"),
    "chart.sliceCollapsingThreshold": ratio,
    "chart.stackMode": oneOf("default", "stacked", "stacked100"),
    "chart.style": oneOf("minimal", "shiny"),
    drilldown,
    fieldColors: text,
    fieldDashStyles: text,
    gaugeColors: list,
    "layout.splitSeries": flag,
    "layout.splitSeries.allowIndependentYRanges": flag,
    "legend.labelStyle.overflowMode": oneOf("ellipsisEnd", "ellipsisMiddle", "ellipsisStart"),
    "legend.mode": oneOf("standard", "seriesCompare"),
    "legend.placement": oneOf("right", "bottom", "top", "left", "none"),
    lineWidth: ratio,
  }),
  ...withPrefix("visualizations.mapping", {
    "choroplethLayer.colorBins": number,
    "choroplethLayer.colorMode": oneOf("auto", "sequential", "divergent", "categorical"),
    "choroplethLayer.maximumColor": text,
    "choroplethLayer.minimumColor": text,
    "choroplethLayer.neutralPoint": ratio,
    "choroplethLayer.shapeOpacity": ratio,
    "choroplethLayer.showBorder": flag,
    "data.maxClusters": number,
    drilldown,
    "legend.placement": oneOf("bottomright", "none"),
    "map.center": matchingPattern(/^\(\s*-?[\d.]+\s*,\s*-?[\d.]+\s*\)$/, "a place such as (0,0)"),
    "map.panning": flag,
    "map.scrollZoom": flag,
    "map.zoom": number,
    "markerLayer.markerMaxSize": number,
    "markerLayer.markerMinSize": number,
    "markerLayer.markerOpacity": ratio,
    showTiles: flag,
    "tileLayer.maxZoom": number,
    "tileLayer.minZoom": number,
    "tileLayer.tileOpacity": ratio,
    "tileLayer.url": text,
    type: oneOf("marker", "choropleth"),
  }),
  ...withPrefix("visualizations.singlevalue", {
    afterLabel: text,
    beforeLabel: text,
    colorBy: oneOf("value", "trend"),
    colorMode: oneOf("block", "none"),
    drilldown,
    numberPrecision: oneOf("0", "0.0", "0.00", "0.000", "0.0000"),
    rangeColors: list,
    rangeValues: list,
    showSparkline: flag,
    showTrendIndicator: flag,
    trendColorInterpretation: oneOf("standard", "inverse"),
    trendDisplayMode: oneOf("percent", "absolute"),
    trendInterval: text,
    underLabel: text,
    unit: text,
    unitPosition: oneOf("before", "after"),
    useColors: flag,
    useThousandSeparators: flag,
  }),
};

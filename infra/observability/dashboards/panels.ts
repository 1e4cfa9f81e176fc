/** One query of a panel, with the legend of its lines ("{{label}}"). */
export type Query = readonly [expr: string, legend: string];
export type PanelSpec = {
  title: string;
  /** A unit by Grafana's name: `s`, `bytes`, `reqps`, `percentunit`, `short`. */
  unit: string;
  queries: readonly Query[];
  /** A large number instead of a graph. */
  stat?: boolean;
  /** Explains the panel to someone who sees it for the first time. */
  description?: string;
};
export type RowSpec = { title: string; panels: readonly PanelSpec[] };
export type Variable = { name: string; label: string; /** The metric whose label values are offered. */ of: string };

/** The person who imports a dashboard chooses its data source; the file names no particular Grafana. */
const datasource = { type: 'prometheus', uid: '${datasource}' };

const WIDTH = 24;

/** A dashboard in the format that Grafana (11 and later) reads from a file. */
export function dashboard(name: string, title: string, rows: readonly RowSpec[], variables: readonly Variable[] = []) {
  return {
    // So that a link to it outlives a new installation.
    uid: `quittance-${name}`,
    title: `Quittance / ${title}`,
    tags: ['quittance'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'utc',
    links: [link],
    annotations: { list: [] },
    templating: { list: [chooseDatasource, ...variables.map(choose)] },
    panels: layOut(rows),
  };
}

/** Links from each dashboard to all others. */
const link = {
  type: 'dashboards' as const,
  title: 'Quittance',
  tags: ['quittance'],
  asDropdown: true,
  icon: '',
  tooltip: '',
  url: null as unknown as string,
  includeVars: true,
  keepTime: true,
  targetBlank: false,
};

const chooseDatasource = {
  name: 'datasource',
  label: 'Prometheus',
  type: 'datasource' as const,
  query: 'prometheus',
  hide: 0,
  multi: false,
  includeAll: false,
  refresh: 1,
  regex: '',
  options: [],
};

function choose({ name, label, of }: Variable) {
  return {
    name,
    label,
    type: 'query' as const,
    datasource,
    query: { query: `label_values(${of}, ${name})`, refId: 'variable' },
    hide: 0,
    multi: true,
    includeAll: true,
    allValue: '.*',
    refresh: 2,
    sort: 1,
    regex: '',
    options: [],
    current: { selected: true, text: ['All'], value: ['$__all'] },
  };
}

/** Lays out rows from top to bottom. The panels of a row share its width, at most four next to each other (numbers: eight). */
function layOut(rows: readonly RowSpec[]) {
  const panels: ReturnType<typeof heading | typeof panel>[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push(heading(panels.length + 1, row.title, y));
    y += 1;
    const isStat = row.panels.every(({ stat }) => stat);
    const perLine = Math.min(row.panels.length, isStat ? 8 : 3);
    const size = { w: WIDTH / perLine, h: isStat ? 4 : 8 };
    for (const [index, spec] of row.panels.entries()) {
      const place = { x: (index % perLine) * size.w, y: y + Math.floor(index / perLine) * size.h, ...size };
      panels.push(panel(panels.length + 1, spec, place));
    }
    y += Math.ceil(row.panels.length / perLine) * size.h;
  }
  return panels;
}

type Place = { x: number; y: number; w: number; h: number };

function heading(id: number, title: string, y: number) {
  return { id, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: WIDTH, h: 1 }, panels: [] };
}

function panel(id: number, { title, unit, queries, stat = false, description = '' }: PanelSpec, gridPos: Place) {
  const options = stat
    ? { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'value', graphMode: 'area' }
    : {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      };
  const custom = { lineWidth: 1, fillOpacity: 10, showPoints: 'never' };
  return {
    id,
    type: stat ? 'stat' : 'timeseries',
    title,
    description,
    datasource,
    gridPos,
    options,
    fieldConfig: { defaults: { unit, min: 0, ...(stat ? {} : { custom }) }, overrides: [] },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
      range: true,
      instant: false,
    })),
  };
}

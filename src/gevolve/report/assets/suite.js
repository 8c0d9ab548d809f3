// A measurement: many workloads on one page, by device and preset.

const percent = (gain) =>
  gain === null || gain === undefined ? '–' : `${(gain * 100).toFixed(Math.abs(gain) < 0.0995 ? 1 : 0)} %`;

// The middle of all seeds, and if they differ how far apart they are.
function spread(one) {
  if (!one) return '–';
  const differ = Math.round(one.low * 1000) !== Math.round(one.high * 1000);
  return h(
    'span',
    {},
    percent(one.middle),
    differ && h('small', { class: 'muted' }, ` ${(one.low * 100).toFixed(0)}..${(one.high * 100).toFixed(0)}`),
  );
}

const partName = (part) => `${part.device}${part.preset === 'default' ? '' : `, preset ${part.preset}`}`;

function suitePage(data) {
  const colours = data.parts.map((_, n) => `var(--e${n % 8})`);
  const names = data.parts.map(partName);
  return [
    h(
      'header',
      { class: 'top' },
      h('div', { class: 'mark' }, 'gevolve'),
      h('h1', {}, `${plural(data.workloads.length, 'workload')} measured`),
      h('p', { class: 'muted' }, names.join(' · ')),
      data.unfinished > 0 &&
        h('p', {}, h('span', { class: 'pill stopped' }, `${plural(data.unfinished, 'run')} not finished`)),
    ),
    ...data.parts.map((part) => suiteHero(data, part)),
    section(
      'gains',
      'What each gained',
      'The time of the unedited program over that of the best exact and validated variant, less 1, on fresh cases that the search never used.' +
        (data.parts.some(severalSeeds) ? ' A thin line goes from the seed with the least to the one with the most.' : ''),
      data.parts.length > 1 && legend(names.map((name, n) => ({ name, colour: colours[n] }))),
      gainChart(data, colours),
    ),
    ...data.parts.map((part, n) => suiteTable(data, part, n)),
    ...data.parts.map((part, n) => suiteEdits(part, n, data.parts.length)),
    section(
      'method',
      'How to read this',
      null,
      h('p', {}, data.note),
      h(
        'ul',
        {},
        data.sources.map((text) => h('li', {}, text)),
      ),
    ),
  ];
}

const severalSeeds = (part) => part.rows.some((row) => row.seeds.length > 1);

function suiteHero(data, part) {
  const mean = part.exact.nvcc,
    tile = (value, label, note) =>
      h(
        'div',
        { class: 'tile' },
        h('div', { class: 'value' }, value),
        h('div', { class: 'label' }, label),
        h('div', { class: 'note muted' }, note),
      );
  if (!mean || !part.exact.fresh) return h('section', { class: 'hero' }, h('p', {}, `${partName(part)}: no run has a result yet.`));
  return h(
    'section',
    { class: 'hero', 'aria-label': partName(part) },
    h(
      'div',
      { class: 'claim' },
      h('p', { class: 'big' }, percent(mean.arithmetic), h('small', {}, ' faster')),
      h(
        'p',
        {},
        `Mean over ${plural(part.rows.filter((row) => row.seeds.length).length, 'workload')} on ${partName(part)}: exact output, on cases that the search never used, against the better of our build of the unedited program and nvcc's. Geometric: ${percent(mean.geometric)}.${severalSeeds(part) ? ` With every workload's worst seed ${percent(mean.least)}, with its best ${percent(mean.most)}.` : ' One seed each, so no spread is known.'}`,
      ),
    ),
    h(
      'div',
      { class: 'tiles' },
      tile(
        percent(part.exact.search.arithmetic),
        'exact, search cases',
        `the GEVO paper on a P100: ${percent(data.paper.exact.gain)}`,
      ),
      tile(
        percent(part.within.fresh && part.within.fresh.arithmetic),
        `within ${data.tolerance}`,
        `fresh cases; the paper: ${percent(data.paper.within.gain)}`,
      ),
      tile(percent(part.exact.fresh.arithmetic), 'exact, fresh cases', 'against our own build alone'),
      tile(percent(part.best), 'the most', `of one workload; the paper: ${percent(data.paper.most.gain)}`),
    ),
  );
}

function gainChart(data, colours) {
  const rows = data.workloads,
    each = 14 * data.parts.length + 10;
  return figure('Gain, exact output', (width) => {
    const left = Math.min(170, width * 0.34),
      height = rows.length * each + 54;
    const of = (part, workload) => {
      const row = part.rows.find((one) => one.workload === workload);
      return row && row.seeds.length ? row.exact.fresh : null;
    };
    const most = Math.max(0.1, ...data.parts.flatMap((p) => rows.map((w) => (of(p, w) || { high: 0 }).high)));
    const x = linear([0, Math.log2(1 + most)], [left, width - 58]),
      at = (gain) => x(Math.log2(1 + Math.max(0, gain)));
    const root = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'gains by workload' });
    const bottom = rows.length * each + 8;
    for (const tick of [0, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16].filter((v) => v <= most)) {
      root.append(
        s('line', { x1: at(tick), x2: at(tick), y1: 4, y2: bottom, class: 'grid' }),
        s('text', { x: at(tick), y: bottom + 16, 'text-anchor': 'middle' }, percent(tick)),
      );
    }
    rows.forEach((workload, n) => {
      const top = 8 + n * each;
      root.append(s('text', { x: left - 10, y: top + (each - 10) / 2 + 4, 'text-anchor': 'end' }, workload));
      data.parts.forEach((part, k) => {
        const gain = of(part, workload),
          y = top + 14 * k;
        if (!gain) return;
        root.append(
          s('rect', { x: left, y, width: Math.max(1, at(gain.middle) - left), height: 12, rx: 2, style: { fill: colours[k] } }),
          s('line', { x1: at(gain.low), x2: at(gain.high), y1: y + 6, y2: y + 6, style: { stroke: 'var(--ink)', 'stroke-width': 1.5 } }),
          s('text', { x: at(gain.high) + 6, y: y + 10 }, percent(gain.middle)),
        );
      });
    });
    root.append(
      s('text', { x: width - 4, y: bottom + 36, 'text-anchor': 'end', class: 'label' }, 'gain on fresh cases, logarithmic'),
    );
    return root;
  });
}

function suiteTable(data, part, n) {
  const headings = ['workload', 'unedited', 'between launches', 'exact', 'held-out', 'fresh', 'large', 'over nvcc', `within ${data.tolerance}`, 'held-out', 'fresh', 'large', 'edits', 'evaluations', 'time', 'paper'];
  const splits = ['search', 'held_out', 'fresh', 'large'];
  const rows = part.rows.map((row) =>
    row.seeds.length
      ? [
          row.workload,
          amount(row.time),
          row.gaps ? amount(row.gaps) : '–',
          ...splits.map((split) => spread(row.exact[split])),
          spread(row.exact.nvcc),
          ...splits.map((split) => spread(row.within[split])),
          row.middle.exact ? row.middle.exact.edits : 0,
          count(row.evaluations),
          clock(row.seconds),
          row.paper ? percent(row.paper.gain) : '–',
        ]
      : [row.workload, 'no result'],
  );
  for (const [name, what] of [
    ['mean of t0/t − 1', 'arithmetic'],
    ['geometric mean', 'geometric'],
  ]) {
    const of = (means, split) => h('b', {}, means[split] ? percent(means[split][what]) : '–');
    const paper = what === 'arithmetic' ? `${percent(data.paper.exact.gain)} exact` : '';
    rows.push([
      h('b', {}, name), '', '',
      ...splits.map((split) => of(part.exact, split)),
      of(part.exact, 'nvcc'),
      ...splits.map((split) => of(part.within, split)),
      '', '', '', paper,
    ]);
  }
  return section(
    `table-${n}`,
    data.parts.length > 1 ? `All figures: ${partName(part)}` : 'All figures',
    null,
    table(headings, rows, { right: headings.map((_, k) => k).slice(1), label: 'all figures' }),
    part.rows.flatMap((row) => row.failed.map((why) => h('p', { class: 'muted' }, `${row.workload}: ${why}`))),
  );
}

const KINDS = {
  issue: 'issue of instructions',
  pipe: 'busy arithmetic units',
  latency: 'results of arithmetic',
  fetch: 'instruction fetch',
  shared: 'shared memory',
  memory: 'memory',
  contention: 'atomics and busy units',
  barriers: 'barriers',
  idle: 'nothing to run',
};

function suiteEdits(part, n, parts) {
  const shown = part.rows.filter((row) => row.seeds.length);
  return section(
    `edits-${n}`,
    parts > 1 ? `What bound each, and what the edits are: ${partName(part)}` : 'What bound each, and what the edits are',
    'Where the cycles of the unedited program went, and the minimal patch of the seed in the middle.',
    shown.map((row) => {
      const found = row.middle.exact,
        looser = row.middle.within;
      const kinds = Object.entries(row.bound);
      return h(
        'details',
        { class: 'fold', open: !!found },
        h(
          'summary',
          {},
          h('b', {}, row.workload),
          ` ${found ? percent(found.fresh) + ' exact' : 'no exact gain'}`,
        ),
        kinds.length > 0 &&
          stacked(
            kinds.map(([name, value], k) => ({
              name: KINDS[name] || name,
              value,
              text: '',
              colour: `var(--e${k % 8})`,
            })),
            kinds.reduce((sum, [, value]) => sum + value, 0),
            'cycles of the unedited program',
          ),
        kinds.length > 0 &&
          h(
            'p',
            { class: 'muted' },
            'Waiting for: ' +
              kinds
                .slice(0, 4)
                .map(([name, value]) => `${KINDS[name] || name} ${percent(value)}`)
                .join(', '),
          ),
        editList(found, 'exact', row.middle.seed),
        looser && (!found || looser.id !== found.id) && editList(looser, `error ${short(looser.error)}`, row.middle.seed),
      );
    }),
  );
}

function editList(found, kind, seed) {
  if (!found) return null;
  return h(
    'div',
    {},
    h('p', { class: 'muted' }, `${found.id} of seed ${seed}, ${kind}: ${percent(found.fresh)} on fresh cases, ${plural(found.edits, 'edit')}`),
    h(
      'ol',
      { class: 'edits' },
      found.words.map((text) => h('li', {}, text)),
    ),
  );
}

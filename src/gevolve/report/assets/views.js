// The selected variant, progress, verdicts and kinds of edit.

function details(data, name) {
  const n = indexOf(data).get(idNumber(name)),
    p = data.points;
  if (n === undefined)
    return h(
      'div',
      { class: 'details' },
      h('p', { class: 'empty' }, `${name} is not among the working variants of this page.`),
    );
  const checks = Object.entries(data.checks[name] || {}),
    rounding = data.run.rounding;
  const texts = p.patch[n] && p.patch[n].map((edit) => data.edits[edit]);
  const words = data.words[name] || texts;
  const status =
    name === 'v0'
      ? 'the unedited program'
      : isStruck(data, name)
        ? 'struck'
        : isValidated(data, name)
          ? 'validated'
          : isMeasured(data, name)
            ? 'no gain in time'
            : 'not validated';
  return h(
    'div',
    { class: 'details', 'aria-live': 'polite' },
    h('h3', {}, name, h('span', { class: 'pill ' + status.replace(/ .*/, '') }, status)),
    h(
      'dl',
      {},
      h('dt', {}, 'time ratio'),
      h('dd', {}, p.ratio[n].toFixed(4), isModelled(data) ? ' by the model,' : '', ' on the search cases'),
      data.measured[name] && [h('dt', {}, 'measured'), h('dd', {}, measuredText(data.measured[name]))],
      h('dt', {}, 'error'),
      h('dd', {}, errorText(p.error[n], rounding)),
      h('dt', {}, 'generation'),
      h('dd', {}, p.generation[n] + 1),
      checks.map(([split, check]) => [
        h('dt', {}, (SPLITS[split] || [split])[0]),
        h(
          'dd',
          {},
          check.verdict === 'ok'
            ? `ok${check.ratio ? ', ratio ' + check.ratio.toFixed(4) : ''}${ownError(data, check)}`
            : `${check.verdict}: ${check.detail}`,
        ),
      ]),
    ),
    status === 'not validated' &&
      copyable(`gevolve validate ${data.run.folder} --variant ${name}`, 'the command that tries it'),
    words === null || words === undefined
      ? h(
          'p',
          { class: 'muted' },
          'The patch is left out of this page to keep it small: ',
          h('code', {}, `gevolve show ${data.run.folder} --variant ${name}`),
        )
      : words.length
        ? [
            h('h4', {}, plural(words.length, 'edit')),
            h(
              'ol',
              { class: 'edits' },
              words.map((text) => h('li', {}, sentence(text))),
            ),
            texts && h('details', {}, h('summary', {}, 'patch'), copyable(texts.join('; '), 'patch')),
          ]
        : null,
  );
}

// Where the unedited program has an error itself, a variant's on other cases is as much a result as its time.
const ownError = (data, check) =>
  data.baseline.error > data.run.rounding && check.error !== null ? `, error ${short(check.error)}` : '';

const measuredText = (interval) =>
  interval.value.toFixed(4) +
  (interval.runs > 1
    ? ` (${interval.low.toFixed(4)} to ${interval.high.toFixed(4)}) by the clock, ${count(interval.runs)} times,`
    : '') +
  ' on cases that the search never used';

// An edit in words, its code set apart.
function sentence(text) {
  return text.split('`').map((part, n) => (n % 2 ? h('code', {}, part) : part));
}

function frontSection(data) {
  const { plot, caption } = frontChart(data);
  const panel = h('div', { class: 'panel' });
  const wanted = state.selected || data.best || data.candidate || 'v0';
  panel.append(details(data, wanted));
  const node = section(
    'front',
    'The front',
    'No variant is both faster and more accurate than one of these. Click a dot, or tab to a point of the front, to see what it is made of.',
    h(
      'div',
      { class: 'split' },
      h(
        'div',
        {},
        plot,
        slider(data, () => plot.redraw(), caption),
      ),
      panel,
    ),
    h(
      'details',
      { class: 'fold' },
      h('summary', {}, `The front as a table (${data.front.length})`),
      frontTable(data),
    ),
  );
  node.choose = () => {
    panel.replaceChildren(details(data, state.selected));
    plot.redraw();
  };
  return node;
}

function frontTable(data) {
  const splits = [...new Set(Object.values(data.checks).flatMap((one) => Object.keys(one)))];
  const untried = data.front.filter((entry) => entry.id !== 'v0' && !entry.interval && !data.checks[entry.id]);
  const times = isModelled(data) ? ['time ratio by the model', 'by the clock'] : ['time ratio'];
  const rows = table(
    ['variant', ...times, 'error', 'edits', ...splits.map((split) => (SPLITS[split] || [split])[0]), ''],
    data.front.map((entry) => [
      h('a', { href: '#' + entry.id }, entry.id),
      ...(isModelled(data)
        ? [searchRatio(data, entry).toFixed(4), entry.interval ? entry.interval.value.toFixed(4) : '–']
        : [entry.ratio.toFixed(4)]),
      wrongness(entry),
      entry.edits,
      ...splits.map((split) => {
        const check = (data.checks[entry.id] || {})[split];
        return check
          ? check.verdict === 'ok'
            ? (check.ratio ? check.ratio.toFixed(4) : 'ok') + ownError(data, check)
            : check.verdict
          : '–';
      }),
      entry.id === 'v0'
        ? 'unedited'
        : isValidated(data, entry.id)
          ? 'validated'
          : isMeasured(data, entry.id)
            ? 'no gain in time'
            : untried.includes(entry)
              ? 'not tried'
              : 'not validated',
    ]),
    { right: [...times, 'error', 'edits', ...splits].map((_, n) => n + 1), label: 'front' },
  );
  if (!untried.length) return rows;
  const command = copyable(`gevolve validate ${data.run.folder}`, 'the command that tries them');
  const lead = `${untried.map((entry) => entry.id).join(', ')}: not tried on inputs that the search never used, and not measured. This tries them:`;
  return h('div', {}, rows, h('p', { class: 'muted' }, lead), command);
}

function progressSection(data) {
  const generations = data.history.generation.map((g) => g + 1);
  return section(
    'progress',
    'Progress',
    null,
    h(
      'div',
      { class: 'pair' },
      orderChart(data),
      lines(
        'Hypervolume',
        [
          {
            name: 'hypervolume',
            colour: 'var(--accent)',
            points: data.history.hypervolume.map((v, n) => [generations[n], v]),
          },
        ],
        {
          height: 260,
          floor: 0,
          room: 0.02,
          roomBelow: 0,
          area: true,
          xLabel: 'generations',
          xName: 'generation',
          yLabel: 'share of the unit square',
          note: 'what the front dominates, of time 1 and the largest error allowed',
        },
      ),
    ),
  );
}

function verdictSection(data) {
  const total = Object.values(data.verdicts).reduce((a, b) => a + b, 0);
  const names = Object.keys(data.verdicts);
  const parts = names.map((name) => ({ name, value: data.verdicts[name], colour: verdictColour(name) }));
  const rows = names.map((name) => [
    h('span', {}, h('i', { class: 'dot', style: { background: verdictColour(name) } }), name),
    count(data.verdicts[name]),
    share(data.verdicts[name], total),
    h(
      'span',
      {},
      (VERDICTS[name] || ['', ''])[1],
      data.examples[name] &&
        h('span', { class: 'example' }, `${data.examples[name][0]}: ${data.examples[name][1]}`),
    ),
  ]);
  return section(
    'verdicts',
    'Verdicts',
    total ? `What became of ${plural(total, 'variant')}.` : 'Nothing has been judged yet.',
    total
      ? [
          stacked(parts, total, 'verdicts: ' + parts.map((part) => `${part.name} ${part.value}`).join(', ')),
          table(['verdict', 'variants', 'share', 'meaning, and the first example'], rows, {
            right: [1, 2],
            label: 'verdicts',
          }),
          overTime(data, names),
        ]
      : null,
  );
}

// Verdicts by generation, in at most 120 columns.
function overTime(data, names) {
  const all = data.generations;
  if (all.length < 2) return null;
  return figure('Verdicts by generation', (width) => {
    const left = 52,
      top = 10,
      height = 164,
      bottom = 46,
      box = { left, top, width: width - left - 14, height: height - top - bottom };
    const bins = Math.min(120, all.length),
      x = linear([1, all.at(-1)[0] + 1], [left, left + box.width]),
      y = linear([0, 1], [top + box.height, top]);
    const root = s(
      'svg',
      {
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: 'img',
        'aria-label': 'share of each verdict by generation',
      },
      axis(box, x, y, {
        xTicks: ticks(...x.domain, width / 100).filter(Number.isInteger),
        xFormat: count,
        yTicks: [0, 0.5, 1],
        yFormat: (v) => v * 100 + ' %',
        xLabel: 'generation',
      }),
    );
    for (let k = 0; k < bins; k++) {
      const part = all.slice(Math.floor((k * all.length) / bins), Math.floor(((k + 1) * all.length) / bins));
      const sums = names.map((name) => part.reduce((a, [, c]) => a + (c[name] || 0), 0)),
        total = sums.reduce((a, b) => a + b, 0);
      let from = 0;
      names.forEach((name, n) => {
        if (!sums[n]) return;
        const tall = (sums[n] / total) * box.height;
        root.append(
          s('rect', {
            x: left + (k * box.width) / bins,
            y: top + from,
            width: box.width / bins - (bins > 60 ? 0 : 1),
            height: tall,
            style: { fill: verdictColour(name) },
          }),
        );
        from += tall;
      });
    }
    return root;
  });
}

function kindSection(data) {
  if (!data.kinds.length) return null;
  const most = Math.max(...data.kinds.map((kind) => kind.tried)),
    top = Math.max(...data.kinds.map((kind) => kind.front / kind.tried), 1e-9);
  const bar = (value, all, text, kind) =>
    h(
      'div',
      { class: 'bar' },
      h('span', { class: kind, style: { width: (value / all) * 100 + '%' } }),
      h('b', {}, text),
    );
  return section(
    'kinds',
    'Which edits paid',
    'Each new edit counts once, for its kind. It worked if the first variant that had it ran and was right; it paid if it came to be part of a variant on the front, on the search cases.',
    table(
      ['kind', 'tried', 'worked', 'reached the front', `in ${data.best || data.candidate || 'the best'}`],
      data.kinds.map((kind) => [
        h('b', {}, kind.kind),
        bar(kind.tried, most, count(kind.tried), 'quiet'),
        bar(kind.worked, kind.tried, share(kind.worked, kind.tried), 'ok'),
        bar(kind.front / kind.tried, top, `${kind.front} (${share(kind.front, kind.tried)})`, 'accent'),
        kind.best || '–',
      ]),
      { right: [4], label: 'kinds of edit' },
    ),
  );
}

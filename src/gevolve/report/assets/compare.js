// Several runs on one page.

function comparePage(data) {
  const runs = data.runs,
    colours = runs.map((_, n) => `var(--e${n % 8})`);
  const base = runs.map((run) => run.run.folder.split('/').filter(Boolean).at(-1) || run.run.folder);
  const names = base.map((name, n) =>
    base.indexOf(name) === base.lastIndexOf(name) ? name : runs[n].run.folder,
  );
  const label = (n) => h('span', {}, h('i', { class: 'dot', style: { background: colours[n] } }), names[n]);
  const splits = [
    ...new Set(runs.flatMap((run) => Object.values(run.checks).flatMap((one) => Object.keys(one)))),
  ];
  const several = new Set(runs.map((run) => run.run.workload)).size > 1 ? 1 : 0;
  const rows = runs.map((run, n) => {
    const best = run.claim,
      shown = best || run.front.find((entry) => entry.id === run.candidate);
    const checks = (shown && run.checks[shown.id]) || {};
    return [
      label(n),
      ...(several ? [run.run.workload] : []),
      best ? h('b', {}, factor(best.headline.value) + ' as fast') : 'none validated',
      shown ? shown.ratio.toFixed(4) : '–',
      shown ? wrongness(shown) : '–',
      shown ? shown.edits : '–',
      ...splits.map((split) =>
        checks[split]
          ? checks[split].verdict === 'ok'
            ? checks[split].ratio
              ? checks[split].ratio.toFixed(4)
              : 'ok'
            : checks[split].verdict
          : '–',
      ),
      shown ? shown.id : '–',
      count(run.evaluations),
      clock(run.seconds) + (run.status === 'finished' ? '' : ' ' + run.status),
    ];
  });
  const settings = [
    ...new Set(
      runs.flatMap((run) => [
        ...Object.keys(run.run.options),
        ...Object.keys(run.run.versions),
        'device',
        'workload',
      ]),
    ),
  ].map((name) => [
    name,
    runs.map((run) => String(run.run.options[name] ?? run.run.versions[name] ?? run.run[name] ?? '–')),
  ]);
  const differ = settings.filter(([, values]) => new Set(values).size > 1),
    same = settings.filter(([, values]) => new Set(values).size === 1);
  const curve = (run) =>
    run.history.best
      .map((value, n) => [run.history.last[n], value])
      .filter((point, n, all) => n === 0 || n === all.length - 1 || point[1] !== all[n - 1][1]);
  return [
    h(
      'header',
      { class: 'top' },
      h('div', { class: 'mark' }, 'gevolve'),
      h('h1', {}, `${runs.length} runs compared`),
      h(
        'p',
        { class: 'muted' },
        [...new Set(runs.map((run) => `${run.run.workload} on ${run.run.device}`))].join(', '),
      ),
    ),
    section(
      'ratios',
      'What each ended with',
      'The best validated variant of each run; where there is none, the candidate, which is not called an improvement. Ratios are times relative to the unedited program.',
      table(
        [
          'run',
          ...(several ? ['workload'] : []),
          'validated gain',
          'time ratio, search cases',
          'error',
          'edits',
          ...splits.map((split) => (SPLITS[split] || [split])[0]),
          'variant',
          'evaluations',
          'time',
        ],
        rows,
        {
          right: [2, 3, 4, ...splits.map((_, n) => n + 5)].map((n) => n + several),
          label: 'results of the runs',
        },
      ),
    ),
    section(
      'curves',
      'How they got there',
      null,
      legend(runs.map((_, n) => ({ name: names[n], colour: colours[n] }))),
      lines(
        'Fastest so far, on the search cases',
        runs.map((run, n) => ({
          name: names[n],
          colour: colours[n],
          points: curve(run),
          end: run.evaluations,
        })),
        {
          height: 320,
          mark: 1,
          extend: true,
          xLabel: 'evaluations',
          xName: 'evaluation',
          yLabel: 'time, relative to the unedited program',
          yFormat: (v) => String(+v.toFixed(4)),
        },
      ),
      lines(
        'Hypervolume',
        runs.map((run, n) => ({
          name: names[n],
          colour: colours[n],
          points: run.history.hypervolume.map((v, k) => [run.history.last[k], v]),
          end: run.evaluations,
        })),
        {
          height: 240,
          floor: 0,
          extend: true,
          xLabel: 'evaluations',
          xName: 'evaluation',
          yLabel: 'share of the unit square',
        },
      ),
    ),
    section('fronts', 'Their fronts', null, frontsChart(runs, names, colours)),
    section(
      'settings',
      'What differs',
      null,
      differ.length
        ? table(
            ['setting', ...names],
            differ.map(([name, values]) => [name, ...values]),
            { label: 'settings that differ' },
          )
        : h('p', {}, 'The runs were set up alike.'),
      same.length > 0 &&
        h(
          'details',
          { class: 'fold' },
          h('summary', {}, `What is the same (${same.length})`),
          table(
            ['setting', 'all runs'],
            same.map(([name, values]) => [name, values[0]]),
            { label: 'settings that are the same' },
          ),
        ),
      h('h3', {}, 'Run them again'),
      runs.map((run) => copyable(run.run.command, 'command')),
    ),
  ];
}

function frontsChart(runs, names, colours) {
  const entries = runs.map((run) => run.front.filter((entry) => entry.id !== 'v0'));
  if (!entries.some((list) => list.length))
    return h(
      'p',
      { class: 'empty' },
      'No run has found anything faster or more accurate than the unedited program.',
    );
  return figure(
    'Time and error',
    (width) => {
      const all = entries.flat(),
        exact = (entry) => entry.words === 'exact',
        inexact = all.filter((entry) => !exact(entry)).map((entry) => entry.error);
      const height = inexact.length ? 340 : 150;
      const low = Math.min(...all.map((entry) => entry.ratio), 1),
        reach = Math.max(0.02, 1 - low);
      const { x, y, middle, background } = plane(width, {
        times: [low - reach * 0.1, 1 + reach * 0.2],
        errors: inexact,
        exact: all.some(exact),
        strip: all.some(exact) ? 34 : 0,
        height,
      });
      const at = (entry) => [x(entry.ratio), exact(entry) ? middle : y(entry.error)];
      const root = s(
        'svg',
        { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'fronts of the runs' },
        background(),
      );
      entries.forEach((list, n) => {
        if (list.length > 1)
          root.append(
            s('path', { d: path(steps(list.map(at))), class: 'line', style: { stroke: colours[n] } }),
          );
        for (const entry of list) {
          const [cx, cy] = at(entry);
          root.append(
            s('circle', {
              cx,
              cy,
              r: 5,
              style: {
                fill: entry.validated ? colours[n] : 'var(--card)',
                stroke: colours[n],
                'stroke-width': 2,
              },
              onmousemove: (event) =>
                showTip(
                  event.clientX,
                  event.clientY,
                  h('b', {}, `${names[n]} ${entry.id}`),
                  h(
                    'div',
                    {},
                    `time ratio ${entry.ratio.toFixed(4)}, error ${wrongness(entry)}`,
                  ),
                  h('div', { class: 'muted' }, entry.validated ? 'validated' : 'not validated'),
                ),
              onmouseleave: hideTip,
            }),
          );
        }
      });
      return root;
    },
    { note: 'filled: validated' },
  );
}

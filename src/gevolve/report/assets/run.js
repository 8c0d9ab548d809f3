// Where the cycles go, and what the run was.

const COSTS = ['issue', 'pipe', 'latency', 'fetch', 'shared', 'memory', 'contention', 'barriers', 'idle'];

function costSection(data) {
  if (data.obstacle)
    return section(
      'cost',
      'Where the cycles go',
      null,
      h('p', { class: 'muted' }, `Not worked out: ${data.obstacle}`),
    );
  if (!data.costs) return null;
  const { before, after, variant } = data.costs;
  const kinds = [...COSTS, ...Object.values(before).flatMap((t) => Object.keys(t.kinds))].filter(
    (kind, n, all) => all.indexOf(kind) === n,
  );
  return section(
    'cost',
    'Where the cycles go',
    `The largest search case on ${data.costs.device}: the unedited program, and ${variant}.`,
    legend(kinds.map((kind, n) => ({ name: kind, colour: `var(--c${n % 6})` }))),
    Object.entries(before).map(([kernel, old]) => {
      const now = after[kernel] || { cycles: 0, kinds: {}, lines: {} };
      const sum = (total) => kinds.reduce((a, kind) => a + (total.kinds[kind] || 0), 0);
      const most = Math.max(old.cycles, now.cycles) || 1;
      const row = (label, total) =>
        h(
          'div',
          { class: 'cost-row' },
          h('span', {}, label),
          h(
            'div',
            { class: 'track' },
            h(
              'div',
              { style: { width: (total.cycles / most) * 100 + '%' } },
              stacked(
                kinds.map((kind, n) => ({
                  name: kind,
                  value: total.kinds[kind] || 0,
                  colour: `var(--c${n % 6})`,
                })),
                sum(total) || 1,
                `${label}: ${count(total.cycles)} cycles`,
              ),
            ),
          ),
          h('b', {}, count(total.cycles)),
        );
      return h(
        'div',
        { class: 'kernel' },
        h('h3', {}, h('code', {}, kernel)),
        row('unedited', old),
        row(variant, now),
        costLines(old, now, variant),
      );
    }),
  );
}

function costLines(old, now, variant) {
  const sum = (spent) => Object.values(spent || {}).reduce((a, b) => a + b, 0);
  const names = [...new Set([...Object.keys(old.lines), ...Object.keys(now.lines)])];
  const rows = names
    .map((name) => [name, sum(old.lines[name]), sum(now.lines[name]), old.lines[name] || now.lines[name]])
    .sort((a, b) => Math.max(b[1], b[2]) - Math.max(a[1], a[2]));
  return h(
    'details',
    { class: 'fold', open: true },
    h('summary', {}, names.some((name) => /^o\d+( |$)/.test(name)) ? 'By layer' : 'By source line'),
    table(
      ['line', 'unedited', variant, 'change', 'mostly'],
      rows
        .slice(0, 12)
        .map(([name, a, b, spent]) => [
          name.endsWith(':0')
            ? h('span', { class: 'muted' }, 'no line of its own')
            : h('code', {}, name.split('/').at(-1)),
          count(a),
          count(b),
          h(
            'span',
            { class: Math.round(b - a) < 0 ? 'less' : Math.round(b - a) > 0 ? 'more' : '' },
            (Math.round(b - a) === 0 ? '' : b > a ? '+' : '−') + count(Math.abs(b - a)),
          ),
          Object.entries(spent).sort((p, q) => q[1] - p[1])[0]?.[0] || '',
        ]),
      { right: [1, 2, 3], label: 'cycles by source line' },
    ),
  );
}

function nodeTable(nodes) {
  const order = [...nodes].sort((a, b) => b.evaluations - a.evaluations || a.name.localeCompare(b.name));
  return [
    h('h3', {}, 'Machines'),
    table(
      ['node', 'workers', 'judged', 'a second', 'lost', 'repeated', 'state'],
      order.map((node) => [
        node.name,
        node.workers,
        count(node.evaluations),
        node.rate.toFixed(1),
        count(node.lost),
        count(node.repeated),
        node.why ? `${node.state}: ${node.why}` : node.state,
      ]),
      { right: [1, 2, 3, 4, 5], label: 'machines of the cluster' },
    ),
    h(
      'p',
      { class: 'muted' },
      'Lost: a worker that ended had it, and another judged it. ',
      'Repeated: given to a second worker because the first was slow.',
    ),
  ];
}

function runSection(data) {
  const run = data.run,
    total = Object.values(data.stages).reduce((a, b) => a + b, 0);
  const facts = [
    ['workload', run.workload],
    ['device', run.device],
    ...Object.entries(run.options),
    ['folder', run.folder],
    ['program', run.digest.slice(0, 16) + '…'],
    [
      'evaluations',
      `${count(data.evaluations)} in ${clock(data.seconds)}` +
        (data.seconds ? `, ${(data.evaluations / data.seconds).toFixed(1)} a second` : ''),
    ],
    ['search cases', run.cases.join('; ')],
    ...Object.entries(run.versions).map(([name, version]) => [name, version]),
  ].filter(([, value]) => value !== '');
  const stages = Object.entries(data.stages).map(([name, value], n) => ({
    name,
    value,
    colour: `var(--c${n % 6})`,
    text: `${short((value / Math.max(1, data.evaluations)) * 1000)} ms an evaluation`,
  }));
  return section(
    'run',
    'The run',
    null,
    h(
      'div',
      { class: 'pair' },
      h(
        'div',
        {},
        h(
          'dl',
          { class: 'facts' },
          facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, String(value))]),
        ),
      ),
      h(
        'div',
        {},
        h('h3', {}, 'Run it again'),
        copyable(run.command, 'command that repeats the run'),
        h(
          'p',
          { class: 'muted' },
          run.device.startsWith('sim')
            ? 'The same seed, versions and number of evaluations give the same run on any machine.'
            : 'The same seed; times on this device vary, so the search may go another way.',
        ),
        data.nodes.length > 0 && nodeTable(data.nodes),
        total > 0 && [
          h('h3', {}, 'Where the time of evaluations went'),
          stacked(stages, total, 'seconds by stage'),
          table(
            ['stage', 'seconds', 'share', 'ms each'],
            stages.map((stage) => [
              h('span', {}, h('i', { class: 'dot', style: { background: stage.colour } }), stage.name),
              stage.value.toFixed(1),
              share(stage.value, total),
              short((stage.value / Math.max(1, data.evaluations)) * 1000),
            ]),
            { right: [1, 2, 3], label: 'time by stage' },
          ),
        ],
      ),
    ),
  );
}

// What the chosen variant changes: its edits, how they depend on each other, its source and its IR.

const badge = (position, total) =>
  h('span', { class: 'badge e' + (position % 8), title: `edit ${position + 1} of ${total}` }, position + 1);

function changeSection(data) {
  const subject = data.subject;
  if (!subject) return null;
  const small = subject.minimized,
    explained = subject.explained;
  const validated = isValidated(data, subject.id);
  const lead = small ? minimalLead(small, validated) : searchLead(data, subject);
  return section(
    'change',
    'What changed',
    lead,
    editTable(subject, explained),
    explained
      ? epistasis(subject, explained)
      : small &&
          h(
            'p',
            { class: 'muted' },
            h('code', {}, `gevolve explain ${data.run.folder}`),
            ' shows which edits need each other.',
          ),
    subject.source.map((file) => sourceView(file, subject)),
    subject.diff && diffView(subject),
  );
}

function minimalLead(small, validated) {
  const unsure = validated ? '' : ' It has not been validated itself.';
  const ratios = `time ratio ${small.ratio_before.toFixed(4)} → ${small.ratio_after.toFixed(4)}`;
  if (small.id === small.source) return `Every edit of ${small.id} is needed.${unsure}`;
  return `${small.id} is ${small.source} without the edits that do not pay: ${small.before} → ${plural(small.after, 'edit')}, ${ratios} on the search cases.${unsure}`;
}

function searchLead(data, subject) {
  return [
    subject.role === 'best'
      ? `${subject.id}, the best validated variant, as the search left it: `
      : `${subject.id}, a candidate whose gain is not validated: `,
    'some of its edits may do nothing. ',
    h('code', {}, `gevolve minimize ${data.run.folder}`),
    ' keeps those that pay.',
  ];
}

function effect(one) {
  return one.verdict === 'ok' && one.ratio !== null ? one.ratio.toFixed(4) : one.verdict;
}

function editTable(subject, explained) {
  if (!explained) {
    return h(
      'ol',
      { class: 'edits marked' },
      subject.sentences.map((text, n) =>
        h('li', {}, badge(n, subject.sentences.length), h('span', {}, sentence(text))),
      ),
    );
  }
  const changed = (story) =>
    Object.entries(story.changes || {})
      .filter(([, v]) => Math.abs(v) > 0.0005)
      .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
      .slice(0, 3)
      .map(([name, v]) => `${name} ${v > 0 ? '+' : '−'}${share(Math.abs(v), 1)}`)
      .join(', ');
  return table(
    ['', 'edit', 'alone', 'without it', 'changes in cost'],
    explained.edits.map((story, n) => [
      badge(n, explained.edits.length),
      h('span', {}, story.theme && h('b', { class: 'theme' }, story.theme), sentence(story.sentence)),
      effect(story.alone),
      effect(story.without),
      changed(story) || '–',
    ]),
    { right: [2, 3], label: 'edits of the minimal patch' },
  );
}

function epistasis(subject, explained) {
  const edits = explained.edits;
  if (edits.length < 2) return null;
  const linked = explained.pairs.filter((pair) => pair.relation !== 'independent');
  const caption = linked.length
    ? 'edits that are linked pay only together, or make each other idle'
    : 'no edit matters to another';
  const draw = (width) => {
    const groups = explained.groups.length ? explained.groups : edits.map((_, n) => [n]);
    const at = [],
      radius = (group) => (group.length === 1 ? 0 : Math.max(34, (group.length * 40) / (2 * Math.PI)));
    let x = 20,
      top = 20,
      tallest = 0;
    for (const group of groups) {
      const r = radius(group),
        size = 2 * r + 64;
      if (x + size > width && x > 20) {
        x = 20;
        top += tallest + 10;
        tallest = 0;
      }
      group.forEach((edit, k) => {
        const a = (2 * Math.PI * k) / group.length - Math.PI / 2;
        at[edit] = [x + size / 2 + r * Math.cos(a), top + size / 2 + r * Math.sin(a)];
      });
      x += size + 8;
      tallest = Math.max(tallest, size);
    }
    const height = top + tallest + 10;
    const root = s('svg', {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'aria-label': 'which edits depend on each other',
    });
    for (const pair of linked) {
      const [a, b] = [at[pair.first], at[pair.second]];
      if (!a || !b) continue;
      root.append(
        s('line', {
          x1: a[0],
          y1: a[1],
          x2: b[0],
          y2: b[1],
          class: 'edge ' + pair.relation,
          onmousemove: (event) =>
            showTip(
              event.clientX,
              event.clientY,
              h('b', {}, `${pair.first + 1} and ${pair.second + 1}: ${pair.relation}`),
              h(
                'div',
                {},
                `both: ${effect(pair.effect)}${pair.expected ? `, expected ${pair.expected.toFixed(4)}` : ''}`,
              ),
            ),
          onmouseleave: hideTip,
        }),
      );
    }
    edits.forEach((story, n) => {
      if (!at[n]) return;
      root.append(
        s(
          'g',
          {
            class: 'node e' + (n % 8),
            tabindex: 0,
            role: 'img',
            'aria-label': `edit ${n + 1}: ${story.sentence}`,
            onmousemove: (event) =>
              showTip(
                event.clientX,
                event.clientY,
                h('b', {}, `edit ${n + 1}`),
                h('div', {}, story.sentence),
                h(
                  'div',
                  { class: 'muted' },
                  `alone ${effect(story.alone)}, all but it ${effect(story.without)}`,
                ),
              ),
            onmouseleave: hideTip,
          },
          s('circle', { cx: at[n][0], cy: at[n][1], r: 16 }),
          s('text', { x: at[n][0], y: at[n][1] + 5, 'text-anchor': 'middle' }, n + 1),
        ),
      );
    });
    return root;
  };
  return h(
    'div',
    {},
    figure('How the edits depend on each other', draw, {
      note: caption,
      legend: legend([
        { name: 'together: only both pay', class: 'together' },
        { name: 'overlap: one makes the other idle', class: 'overlap' },
      ]),
    }),
    h(
      'details',
      { class: 'fold' },
      h('summary', {}, 'Pairs as a table'),
      table(
        ['edits', 'relation', 'both', 'expected'],
        explained.pairs.map((pair) => [
          `${pair.first + 1}, ${pair.second + 1}`,
          pair.relation,
          effect(pair.effect),
          pair.expected === null ? '–' : pair.expected.toFixed(4),
        ]),
        { right: [2, 3], label: 'pairs of edits' },
      ),
    ),
  );
}

function sourceView(file, subject) {
  const state_ = `as the run recorded it (SHA-256 ${file.sha256.slice(0, 12)}…)`;
  const rows = [];
  file.runs.forEach((run, k) => {
    if (k) rows.push(h('div', { class: 'gap' }, '⋯'));
    for (const [number, text, edits] of run) {
      rows.push(
        h(
          'div',
          { class: 'code-row' + (edits.length ? ' touched' : '') },
          h('span', { class: 'no' }, number),
          h('code', {}, text || ' '),
          h(
            'span',
            { class: 'said' },
            edits.map((n) =>
              h('span', { class: 'say' }, badge(n, subject.sentences.length), brief(subject.sentences[n])),
            ),
          ),
        ),
      );
    }
  });
  return h(
    'figure',
    { class: 'wide' },
    h('figcaption', {}, h('strong', {}, file.name), h('span', {}, state_)),
    h('div', { class: 'code source scroll', tabindex: 0, role: 'region', 'aria-label': file.name }, rows),
  );
}

// An edit without the code and the places, which stand beside it.
const brief = (text) =>
  text
    .split('`')
    .filter((_, n) => n % 2 === 0)
    .join(' ')
    .replace(/\s*\((?:for )?[^()]*:\d+\)/g, '')
    .replace(/\s+/g, ' ')
    .trim();

function diffView(subject) {
  const diff = subject.diff;
  if (!diff.hunks.length)
    return h('p', { class: 'muted' }, 'The IR is the same as before: no edit changes anything.');
  const side = (number, text, kind) => [
    h('span', { class: 'no ' + kind }, number ?? ''),
    h('code', { class: kind }, text ?? ' '),
  ];
  const rows = [];
  diff.hunks.forEach((hunk, k) => {
    if (k) rows.push(h('div', { class: 'gap' }, '⋯'));
    for (const [a, before, b, after, edits] of hunk) {
      const changed = edits !== null;
      rows.push(
        h(
          'div',
          { class: 'diff-row' + (changed ? ' touched' : '') },
          side(a, before, changed ? (before === null ? 'void' : 'old') : ''),
          side(b, after, changed ? (after === null ? 'void' : 'new') : ''),
          h('span', { class: 'who' }, changed && edits.map((n) => badge(n, subject.sentences.length))),
        ),
      );
    }
  });
  return h(
    'figure',
    { class: 'wide' },
    h(
      'figcaption',
      {},
      h('strong', {}, 'IR, unedited and ' + subject.id),
      h(
        'span',
        {},
        `${plural(diff.changed, 'line')} of ${count(diff.lines)} differ; numbers at the right are the edits`,
      ),
    ),
    h(
      'div',
      { class: 'code diff scroll', tabindex: 0, role: 'region', 'aria-label': 'difference of the IR' },
      rows,
    ),
  );
}

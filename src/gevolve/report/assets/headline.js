// What was validated, or that nothing was.

const SPLITS = {
  search: ['search cases', 'judged every variant'],
  'held-out': ['held-out cases', 'other sizes and seeds, never seen by the search'],
  large: ['large case', 'much larger than any other'],
  fresh: ['fresh cases', 'drawn anew for this check; the claim is measured on these'],
  varied: ['varied cases', 'one input is another than in a search case'],
  unseen: ['unseen cases', 'held-out ones, tried while the search went on'],
};

const bounds = (interval) =>
  interval && interval.runs > 1
    ? `${factor(interval.high)} to ${factor(interval.low)}${interval.settled ? '' : ', not as sure as it was meant to be'}`
    : '';

// The time of a variant beside both builds of the unedited program: a gain is one against the better.
function beside(data, entry) {
  const time = `${entry.interval.value.toFixed(3)} of the time of`;
  if (!data.nvcc.why && !data.nvcc.version) return `${time} the unedited program`; // a model: nvcc cannot build it
  const ours = `${time} gevolve's unedited build`;
  if (entry.nvccInterval) return `${ours} and ${entry.nvccInterval.value.toFixed(3)} of the time of nvcc's`;
  return `${ours} (nvcc's is not compared: ${data.nvcc.why || 'it was not run on those cases'})`;
}

function tile(value, label, note, kind) {
  return h(
    'div',
    { class: 'tile ' + (kind || '') },
    h('div', { class: 'value' }, value),
    h('div', { class: 'label' }, label),
    note && h('div', { class: 'note' }, note),
  );
}

// What the search saw; an entry has what was measured later, where times vary.
function searchRatio(data, entry) {
  const n = indexOf(data).get(idNumber(entry.id));
  return n === undefined ? entry.ratio : data.points.ratio[n];
}

// What became of a variant on each kind of case. Only of a validated gain is it said how fast it is.
function checkTiles(data, entry, gain) {
  const checks = data.checks[entry.id] || {};
  const figure_ = (ratio) => (gain ? factor(ratio) : ratio.toFixed(3));
  const order = [...new Set(['held-out', 'fresh', 'large', ...Object.keys(checks)])];
  const other = order
    .filter((split) => checks[split] || split === 'held-out')
    .map((split) => {
      const check = checks[split],
        [label, meaning] = SPLITS[split] || [split, ''];
      if (!check) return tile('–', label, 'not tried', 'untried');
      if (check.verdict !== 'ok') return tile('✗ ' + check.verdict, label, check.detail || meaning, 'failed');
      return tile(
        check.ratio ? figure_(check.ratio) : 'ok',
        h('span', {}, h('i', { class: 'tick' }, '✓'), label),
        gain || !check.ratio ? meaning : 'passed; time ratio',
        gain && !(check.ratio >= 1) ? 'passed' : 'untried',
      );
    });
  const kind = isModelled(data) ? ' by the model' : '';
  const note = gain ? `these judged every variant${kind}` : `time ratio of the candidate${kind}`;
  return [tile(figure_(searchRatio(data, entry)), 'search cases', note, 'untried'), other];
}

// What else was validated: a variant that is exact where the fastest is not, one with less error.
function alsoValidated(data) {
  const lines = [];
  if (data.exact && data.claim && data.exact.id !== data.claim.id) {
    const error = data.exact.relative ? `has an error of ${wrongness(data.exact)},` : 'is exact';
    lines.push(`${data.exact.id} ${error} and validated at ${factor(data.exact.headline.value)} as fast.`);
  }
  if (data.accurate) {
    const { id, error, heldOutError, interval } = data.accurate;
    lines.push(
      `${id} has less error than the unedited program: ${short(error)} for ${short(data.baseline.error)} on the search data, ${short(heldOutError)} for ${short(data.baseline.heldOutError)} on held-out data, at ${interval.value.toFixed(3)}${interval.runs > 1 ? ` (${interval.low.toFixed(3)} to ${interval.high.toFixed(3)})` : ''} of its time.`,
    );
  }
  return lines.map((line) => h('p', {}, line));
}

function headline(data) {
  const best = data.claim,
    candidate = data.front.find((entry) => entry.id === data.candidate);
  const deterministic = data.run.device.startsWith('sim'),
    going = data.live && data.running;
  const struck = Object.keys(data.checks).filter((name) => isStruck(data, name));
  const children = [];
  if (best) {
    const ratio = best.headline.value;
    children.push(
      h(
        'div',
        { class: 'claim' },
        h('p', { class: 'big' }, factor(ratio), h('small', {}, ' as fast')),
        bounds(best.headline) && h('p', { class: 'bounds' }, bounds(best.headline)),
        h(
          'p',
          {},
          best.id === data.best
            ? h('a', { href: '#' + best.id }, best.id)
            : [best.id, ', the minimal patch of ', h('a', { href: '#' + data.best }, data.best), ','],
          ` takes ${beside(data, best)} on cases that the search never used`,
          best.interval.runs > 1
            ? `, measured ${count(best.interval.runs)} times`
            : deterministic
              ? ', in cycles of the model, which do not vary'
              : '',
          `; ${best.words === 'exact' ? 'its output is exact' : 'its error is ' + wrongness(best)}; ${plural(best.edits, 'edit')}.`,
        ),
        deterministic &&
          ratio > 0.95 &&
          h('p', { class: 'caution' }, 'Differences under 3 to 5 % are within what the model does not know.'),
        data.baseline.gaps > 0 &&
          h(
            'p',
            { class: 'muted' },
            `Between launches pass ${count(Math.round(data.baseline.gaps))} more cycles, beside ${count(Math.round(data.baseline.time))} in the unedited kernels; no edit changes them and no time here has them in it.`,
          ),
        alsoValidated(data),
        candidate &&
          candidate.id !== data.best &&
          h(
            'p',
            { class: 'muted' },
            `${candidate.id} takes less time on the search cases (ratio ${searchRatio(data, candidate).toFixed(3)}), but its gain has not been validated.`,
          ),
      ),
      h('div', { class: 'tiles' }, checkTiles(data, best, true)),
    );
  } else if (candidate) {
    const why = candidate.interval
      ? `it passed all checks, but on cases that the search never used it takes ${beside(data, candidate)}${candidate.interval.runs > 1 ? ` (up to ${candidate.interval.high.toFixed(3)} of our build's)` : ''}.`
      : going
        ? 'the front is checked on other inputs when the search ends.'
        : 'it has not been through all checks on inputs that the search never used.';
    children.push(
      h(
        'div',
        { class: 'claim none' },
        h(
          'p',
          { class: 'big' },
          `No improvement ${data.accurate ? 'in time ' : ''}validated`,
          going ? h('small', {}, ' yet') : '',
        ),
        h(
          'p',
          {},
          h('a', { href: '#' + candidate.id }, candidate.id),
          ` takes ${searchRatio(data, candidate).toFixed(3)} of the unedited program's time on the search cases${candidate.relative ? `, where its error is ${wrongness(candidate)}` : ''}. It is a candidate: `,
          why,
        ),
        !candidate.interval &&
          !going &&
          copyable(`gevolve validate ${data.run.folder}`, 'the command that tries it'),
        alsoValidated(data),
      ),
      h('div', { class: 'tiles' }, checkTiles(data, candidate, false)),
    );
  } else {
    children.push(
      h(
        'div',
        { class: 'claim none' },
        h(
          'p',
          { class: 'big' },
          data.baseline ? 'No improvement found' : 'Not begun',
          going ? h('small', {}, ' yet') : '',
        ),
        h(
          'p',
          {},
          data.baseline
            ? 'No variant that works takes less time than the unedited program.'
            : 'The unedited program has not been judged.',
        ),
        alsoValidated(data),
      ),
    );
  }
  for (const { id, ratio, why } of data.unsure)
    children.push(
      h(
        'p',
        { class: 'struck-note' },
        `Not claimed: ${id} would take ${ratio.toFixed(3)} of the time, but its time is unsure: ${why}.`,
      ),
    );
  if (struck.length)
    children.push(
      h(
        'p',
        { class: 'struck-note' },
        `${plural(struck.length, 'variant')} looked good on the search cases and failed on others (${struck.slice(0, 6).join(', ')}${struck.length > 6 ? ' …' : ''}): struck from the front.`,
      ),
    );
  for (const line of data.run.caveats || []) children.push(h('p', { class: 'caution' }, line));
  return h('section', { class: 'hero', id: 'headline', 'aria-label': 'headline' }, children);
}

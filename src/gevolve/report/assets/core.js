// Elements, numbers and words. Text only ever enters the page through textContent.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'style') for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const count = (n) => whole.format(n);
const share = (part, all) =>
  (all
    ? part / all >= 0.0995 || part === 0
      ? Math.round((part / all) * 100)
      : ((part / all) * 100).toFixed(1)
    : 0) + ' %';
const factor = (ratio) => (1 / ratio < 1.0995 ? (1 / ratio).toFixed(3) : (1 / ratio).toPrecision(3)) + '×';
const short = (value) =>
  value === 0
    ? '0'
    : Math.abs(value) >= 0.0001 && Math.abs(value) < 1e5
      ? String(+value.toPrecision(3))
      : value.toExponential(1);
const amount = (value) => (Math.abs(value) >= 100 ? count(value) : short(value));

function speed(ratio) {
  if (Math.abs(1 / ratio - 1) < 0.0005) return 'as fast';
  return ratio < 1 ? factor(ratio) + ' as fast' : factor(1 / ratio) + ' the time';
}

function clock(seconds) {
  const total = Math.round(seconds),
    m = Math.floor(total / 60),
    hours = Math.floor(m / 60);
  const two = (n) => String(n).padStart(2, '0');
  return hours ? `${hours}:${two(m % 60)}:${two(total % 60)}` : `${m}:${two(total % 60)}`;
}

// The error of an entry; where the unedited program has one itself, also how it compares with that.
const wrongness = (entry) => (entry.relative ? `${short(entry.error)}, ${entry.words}` : entry.words);
const errorText = (value, rounding) =>
  value === null || value === undefined ? '–' : value <= rounding ? 'exact' : short(value);
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

// A fixed number from 0 to 1 for each id, so that a dot stays where it was.
function scatter01(id) {
  let x = Math.imul(id + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  return ((x ^ (x >>> 13)) >>> 0) / 4294967296;
}

const colour = (name) =>
  getComputedStyle(document.documentElement)
    .getPropertyValue('--' + name)
    .trim();

const VERDICTS = {
  ok: ['ok', 'ran, and is right within the tolerance'],
  wrong: ['odd1', 'the error is above the tolerance'],
  nonfinite: ['odd2', 'gave NaN or infinity where the reference has none'],
  flaky: ['odd3', 'its output depends on memory that nothing has written'],
  'inputs-changed': ['odd4', 'wrote to an input that the unedited program leaves alone'],
  race: ['gpu1', 'threads meet in memory with nothing to keep them apart'],
  'divergent-barrier': ['gpu2', 'threads wait at a barrier that others do not come to'],
  stale: ['gpu4', 'reads by a read-only load what the launch writes'],
  uninitialised: ['gpu3', 'reads shared memory that nothing has written'],
  slower: ['odd4', 'takes longer on the large case than the unedited program'],
  invalid: ['build1', 'the verifier of the IR rejects it'],
  compile: ['build2', 'the back end cannot make an artefact of it'],
  crash: ['bad1', 'touched memory that is not its own, trapped, or the host code raised'],
  fuel: ['bad2', 'ran many more loop iterations than the unedited program'],
  timeout: ['bad3', 'passed the deadline'],
  memory: ['bad4', 'asked for too much memory'],
};
const verdictColour = (name) => `var(--${(VERDICTS[name] || ['muted'])[0]})`;

function copyable(text, label) {
  const button = h(
    'button',
    {
      class: 'copy',
      type: 'button',
      onclick: () => {
        const done = () => {
          button.textContent = 'copied';
          setTimeout(() => {
            button.textContent = 'copy';
          }, 1500);
        };
        if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => select(code));
        else select(code);
      },
    },
    'copy',
  );
  const code = h('code', { tabindex: 0, 'aria-label': label }, text);
  return h('div', { class: 'command' }, code, button);
}

function select(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

function section(id, title, lead, ...children) {
  return h(
    'section',
    { id, 'aria-labelledby': id + '-title' },
    h('h2', { id: id + '-title' }, title),
    lead && h('p', { class: 'lead' }, lead),
    ...children,
  );
}

function table(headings, rows, options = {}) {
  const right = options.right || [];
  const cell = (tag, value, n, extra) =>
    h(tag, { class: right.includes(n) ? 'number' : null, ...extra }, value);
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': options.label || 'table' },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          headings.map((text, n) => cell('th', text, n, { scope: 'col' })),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) =>
          h(
            'tr',
            row.props || {},
            (row.cells || row).map((value, n) => cell('td', value, n)),
          ),
        ),
      ),
    ),
  );
}

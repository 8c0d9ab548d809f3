// Puts the page together, keeps the selection in the address, and if the run is live asks for news.

const page = document.getElementById('page');
const failures = [];
addEventListener('error', (event) => failures.push(event.message));
addEventListener('unhandledrejection', (event) => failures.push(String(event.reason)));
document.documentElement.faults = failures;

function choose(name) {
  if (location.hash !== '#' + name) history.replaceState(null, '', '#' + name);
  state.selected = name;
  const front = document.getElementById('front');
  if (front && front.choose) front.choose();
}

function fromAddress() {
  const match = /^#(v\d+)$/.exec(location.hash);
  if (match && state.data && indexOf(state.data).has(idNumber(match[1]))) {
    choose(match[1]);
    document.getElementById('front').scrollIntoView({ block: 'nearest' });
  }
}
addEventListener('hashchange', fromAddress);

const SECTIONS = [
  ['top', top_, (d) => [d.status, d.running, d.gone, d.evaluations, d.seconds]],
  ['headline', headline, (d) => [d.front, d.checks, d.claim, d.accurate, d.candidate, d.running]],
  ['front', frontSection, (d) => [d.points.id.length, d.front, d.checks, d.measured]],
  ['progress', progressSection, (d) => [d.points.id.length, d.history.generation.length, d.evaluations]],
  [
    'change',
    changeSection,
    (d) => [d.subject && [d.subject.id, d.subject.role, !!d.subject.explained], d.checks],
  ],
  ['cost', costSection, (d) => [!!d.costs]],
  ['kinds', kindSection, (d) => d.kinds],
  ['verdicts', verdictSection, (d) => d.verdicts],
  ['run', runSection, (d) => [d.evaluations, d.seconds]],
];
const slots = {};

function top_(data) {
  const status = data.gone
    ? ['gone', 'the run is gone']
    : data.running
      ? ['live', 'running']
      : [data.status, data.status];
  return h(
    'header',
    { class: 'top' },
    h('div', { class: 'mark' }, 'gevolve'),
    h('h1', {}, data.run.workload, h('span', {}, ' on ' + data.run.device)),
    h(
      'p',
      { class: 'meta' },
      h('span', { class: 'pill ' + status[0] }, status[1]),
      ` ${plural(data.evaluations, 'evaluation')}, ${plural(data.history.generation.filter((g) => g >= 0).length, 'generation')}, ${clock(data.seconds)}, seed ${data.run.options.seed}`,
    ),
  );
}

function show(data) {
  state.data = data;
  data.index = null;
  for (const [name, build, key] of SECTIONS) {
    const now = JSON.stringify(key(data)),
      slot = (slots[name] = slots[name] || {});
    if (slot.key === now) continue;
    if (name === 'front' && state.playing) continue;
    slot.key = now;
    const node = build(data) || h('div', { hidden: true });
    if (slot.node) slot.node.replaceWith(node);
    else page.append(node);
    slot.node = node;
  }
  if (data.live) document.title = `${data.running ? '● ' : ''}${data.run.workload} on ${data.run.device}`;
}

function footer() {
  return h(
    'footer',
    {},
    'Made by gevolve. Times are relative to the unedited program; nothing is called an improvement that has not passed on inputs the search never saw.',
  );
}

function waiting(text) {
  page.replaceChildren(
    h('header', { class: 'top' }, h('div', { class: 'mark' }, 'gevolve')),
    h(
      'section',
      { class: 'hero', id: 'waiting' },
      h('div', { class: 'claim none' }, h('p', { class: 'big' }, 'Waiting'), h('p', {}, text)),
    ),
  );
  for (const name of Object.keys(slots)) delete slots[name];
}

async function follow() {
  let data = null,
    lost = 0;
  for (;;) {
    try {
      const query = data
        ? `?epoch=${data.epoch}&points=${data.points.id.length}&edits=${data.edits.length}&version=${data.version}`
        : '';
      const answer = await fetch('data' + query, { cache: 'no-store' });
      const news = await answer.json();
      lost = 0;
      document.body.classList.remove('lost');
      if (news.waiting) {
        data = null;
        waiting(news.waiting);
      } else if (!news.same) {
        if (!data || data.epoch !== news.epoch) {
          data = news;
          page.replaceChildren();
          for (const name of Object.keys(slots)) delete slots[name];
          state.selected = null;
          state.generation = null;
        } else {
          const { points, edits, ...rest } = news;
          for (const name of Object.keys(points))
            for (const value of points[name]) data.points[name].push(value);
          for (const edit of edits) data.edits.push(edit);
          Object.assign(data, rest);
        }
        const first = !slots.front;
        show(data);
        if (first) {
          page.append(footer());
          fromAddress();
        }
      }
    } catch (error) {
      if (error instanceof TypeError || error instanceof SyntaxError) {
        if (++lost > 1) document.body.classList.add('lost');
      } else throw error;
    }
    await new Promise((go) => setTimeout(go, document.hidden ? 5000 : lost ? 3000 : 1000));
  }
}

function begin() {
  const data = JSON.parse(document.getElementById('data').textContent);
  page.replaceChildren();
  document.body.append(tip);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
  addEventListener('beforeprint', () => {
    document.documentElement.classList.add('print');
    redrawAll();
  });
  addEventListener('afterprint', () => {
    document.documentElement.classList.remove('print');
    redrawAll();
  });
  if (data.kind === 'compare') page.append(...comparePage(data), footer());
  else if (data.kind === 'suite') page.append(...suitePage(data), footer());
  else if (data.live) {
    document.body.append(
      h('div', { class: 'lost-note', role: 'alert' }, 'No answer from gevolve watch. Trying again.'),
    );
    follow();
  } else {
    show(data);
    page.append(footer());
    fromAddress();
  }
}

begin();

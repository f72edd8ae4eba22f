// Times the built webview in a real Chromium, and prints the figures as JSON. Started by tests/bench/view.py.
// A round trip begins here, outside of the page, as the extension's side of a webview is outside, and ends here, once the page
// has drawn what it was told. The bare page does the least that a webview can do: it writes a text and says so.
import { build } from 'esbuild';

import { openStage } from './preview/stage.mjs';

const ROUNDS = 25;
const OPENINGS = 5;
const WORDS = 20_000;
const CARDS = 500;
const EVENTS = 5_000;
/** A longer wait means that the page hangs. */
const BOUND = 120_000;

const [bundle] = (
  await build({
    entryPoints: [new URL('./fixtures.ts', import.meta.url).pathname],
    bundle: true,
    format: 'esm',
    write: false,
  })
).outputFiles;
const { plainCommand, snapshot, threadOf } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.text).toString('base64')}`
);

const { origin, browser, close } = await openStage();
try {
  const bare = await barePage();
  const desk = await deskPage([]);
  const opened = [];
  const closed = [];
  const floor = { shown: [], clicked: [] };
  for (let round = 0; round < ROUNDS; round++) {
    floor.shown.push(await timed(bare, () => bare.tell({ text: `round ${round}` }, 'drawn')));
    opened.push(
      await timed(desk, () => desk.tell({ type: 'approvalRequest', approval: request(`a-${round}`) }, 'shown')),
    );
    await desk.page.waitForFunction(() => !document.querySelector('[data-state="arming"]'));
    floor.clicked.push(await timed(bare, () => bare.click('button', 'drawn')));
    closed.push(await timed(desk, () => desk.click('[data-testid="approval-card"] .primary', 'gone')));
  }
  const empty = [];
  for (let round = 0; round < OPENINGS; round++) empty.push(await drawing([], []));
  const streamed = await streaming();
  console.log(
    JSON.stringify({
      bare: median(floor.shown),
      bareClick: median(floor.clicked),
      shown: median(opened),
      closed: median(closed),
      empty: median(empty),
      longest: streamed.longest,
      blocked: streamed.blocked,
      cards: await drawing(
        Array.from({ length: CARDS }, (_, index) => request(`c-${index}`)),
        [],
      ),
      events: await drawing([], chat()),
    }),
  );
} finally {
  await close();
}

/** A page with a host in this process: `said` resolves when the page says that word. */
async function pageWithHost(prepare) {
  const page = await browser.newPage({ viewport: { width: 420, height: 760 }, reducedMotion: 'reduce' });
  const waiting = new Map();
  await page.exposeFunction('toHost', (word, message) => {
    answer(word, message);
    waiting.get(word)?.();
    waiting.delete(word);
  });
  let answer = () => undefined;
  await prepare(page);
  const said = (word) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the page did not say '${word}'`)), BOUND);
      waiting.set(word, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  const post = (message) => page.evaluate((told) => window.postMessage(told, '*'), message);
  return {
    page,
    post,
    onPosted: (handle) => (answer = handle),
    async tell(message, word) {
      const done = said(word);
      await post(message);
      await done;
    },
    async click(selector, word) {
      const done = said(word);
      await page.evaluate((at) => document.querySelector(at).click(), selector);
      await done;
    },
  };
}

/**
 * Gives a page `painted`: it calls back behind the frame that draws what has changed so far. A change that is made in a
 * frame, as the view's are, is drawn by that very frame; any other by the next one.
 */
function tellsOfPaint() {
  const frame = globalThis.requestAnimationFrame.bind(globalThis);
  let inFrame = false;
  const behind = (then) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', then, { once: true });
    port1.start();
    port2.postMessage(0);
  };
  globalThis.requestAnimationFrame = (callback) =>
    frame((time) => {
      if (!inFrame) behind(() => (inFrame = false));
      inFrame = true;
      callback(time);
    });
  globalThis.painted = (then) => (inFrame ? behind(then) : frame(() => behind(then)));
}

async function barePage() {
  const made = await pageWithHost(async (page) => {
    await page.setContent('<button>Go</button><p></p>');
    await page.evaluate(tellsOfPaint);
    await page.evaluate(() => {
      addEventListener('message', ({ data }) => {
        document.querySelector('p').textContent = data.text;
        globalThis.painted(() => globalThis.toHost('drawn'));
      });
      document.querySelector('button').addEventListener('click', () => globalThis.toHost('clicked'));
    });
  });
  made.onPosted((word) => {
    if (word === 'clicked') void made.post({ text: 'clicked' });
  });
  return made;
}

async function deskPage(approvals, events = []) {
  const made = await pageWithHost(async (page) => {
    await page.addInitScript(tellsOfPaint);
    await page.addInitScript(
      ([given, thread]) => {
        globalThis.given = [given, { type: 'threadOpened', thread }];
      },
      [snapshot({ approvals }), threadOf(events, { running: true })],
    );
    await page.goto(`${origin}/?scene=plain&theme=dark`);
    await page.locator('countersign-desk .main').waitFor();
    await page.evaluate(() => {
      globalThis.posted.push = (message) => void globalThis.toHost('posted', message);
      let shown = document.querySelector('[data-testid="approval-card"]') !== null;
      new MutationObserver(() => {
        const now = document.querySelector('[data-testid="approval-card"]') !== null;
        if (now === shown) return;
        shown = now;
        globalThis.painted(() => globalThis.toHost(now ? 'shown' : 'gone'));
      }).observe(document.body, { childList: true, subtree: true });
    });
  });
  made.onPosted((word, message) => {
    if (word === 'posted' && message.type === 'answer')
      void made.post({
        type: 'approvalResolved',
        resolved: { approvalId: message.approvalId, threadId: 't-1', state: 'allowed', by: 'user' },
      });
  });
  return made;
}

/** The longest stretch in which the page could not answer while words came in, and the sum of those over 50 ms. */
async function streaming() {
  const { page, post } = await deskPage([]);
  await page.evaluate(() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) =>
      globalThis.tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({
      type: 'longtask',
    });
  });
  const words = Array.from({ length: WORDS }, (_, index) =>
    index % 12 === 11 ? `word${index}.\n\n` : `word${index} `,
  );
  for (let at = 0; at < WORDS; at += 20)
    await post({
      type: 'update',
      update: {
        threadId: 't-1',
        seq: 2 + at / 20,
        events: [{ type: 'text', text: words.slice(at, at + 20).join('') }],
      },
    });
  await page.getByText(`word${WORDS - 1}`).waitFor({ timeout: BOUND });
  const tasks = await page.evaluate(() => globalThis.tasks);
  await page.close();
  return { longest: Math.max(0, ...tasks) / 1000, blocked: tasks.reduce((sum, each) => sum + each, 0) / 1000 };
}

/** Seconds from opening the page to all of it drawn. */
async function drawing(approvals, events) {
  const began = performance.now();
  const { page } = await deskPage(approvals, events);
  if (events.length > 0) await page.getByText('the last of them').waitFor({ timeout: BOUND });
  else if (approvals.length > 0) await page.getByText(`1 of ${approvals.length}`).waitFor({ timeout: BOUND });
  const took = (performance.now() - began) / 1000;
  await page.close();
  return took;
}

function request(approvalId) {
  return plainCommand({ approvalId, digest: approvalId });
}

/** A long conversation: questions, answers and calls that have ended. */
function chat() {
  const call = {
    agentName: 'Countersign',
    tool: 'read_file',
    kind: 'read',
    category: 'read',
    title: 'Read src/parse.py',
  };
  const turns = Array.from({ length: EVENTS / 4 }, (_, turn) => [
    { type: 'prompt', text: `question ${turn}` },
    { ...call, type: 'toolCall', toolCallId: `c-${turn}` },
    { ...call, type: 'toolResult', toolCallId: `c-${turn}`, success: true, output: `file ${turn}`, decidedBy: 'mode' },
    { type: 'text', text: `It says **${turn}**, as you can see in \`file${turn}.py\`.` },
  ]).flat();
  return [...turns.slice(0, -1), { type: 'text', text: 'This is the last of them.' }];
}

/** Seconds from the beginning of a frame, for both pages alike: what waits for the next frame waits equally long. */
async function timed({ page }, act) {
  await page.evaluate(() => new Promise(requestAnimationFrame));
  const began = performance.now();
  await act();
  return (performance.now() - began) / 1000;
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

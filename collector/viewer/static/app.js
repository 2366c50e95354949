// What a page cannot do without a script: the live feed, search as you type, parts that come later, and keys.
// Everything that is shown is made and escaped on the server.
'use strict';
(() => {
  const $ = (s, r = document) => r.querySelector(s);
  const $$ = (s, r = document) => [...r.querySelectorAll(s)];

  // The live feed. It is open only while the page can be seen, so that a page nobody looks at keeps no collector alive.
  const feed = $('[data-feed]');
  if (feed) {
    const most = 300, live = $('#live'), pause = $('#pause'), tools = $('#feed-tools');
    let source = null, paused = false, waiting = [], drawing = 0;
    const say = (text, how) => { live.textContent = text; live.className = 'live ' + how; };
    const count = () => waiting.reduce((n, t) => n + t.content.childElementCount, 0);
    const draw = () => {
      drawing = 0;
      if (paused || !waiting.length) return;
      const empty = $('#feed-empty');
      if (empty) empty.hidden = true;
      for (const t of waiting) {
        for (const li of [...t.content.children]) {
          const had = feed.querySelector('[data-id="' + CSS.escape(li.dataset.id) + '"]');
          if (had) li.remove(); else li.classList.add('fresh');
        }
        feed.prepend(t.content);
      }
      waiting = [];
      while (feed.childElementCount > most) feed.lastElementChild.remove();
    };
    const open = () => {
      if (source || document.visibilityState !== 'visible') return;
      source = new EventSource(feed.dataset.feed);
      source.onopen = () => say(paused ? 'Paused.' : 'Live.', paused ? '' : 'on');
      source.onmessage = e => {
        const t = document.createElement('template');
        t.innerHTML = e.data;
        waiting.push(t);
        if (paused) {
          while (count() > most && waiting.length > 1) waiting.shift();
          say('Paused, ' + count() + ' new.', '');
        } else if (!drawing) drawing = requestAnimationFrame(draw);
      };
      source.onerror = () => {
        say('The collector is asleep. It comes back with the next hook, or type: kiro-learn ui', 'off');
        if (source && source.readyState === EventSource.CLOSED) { close(); setTimeout(open, 3000); }
      };
    };
    const close = () => { if (source) source.close(); source = null; };
    document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'visible') open(); else close(); });
    addEventListener('pagehide', close);
    addEventListener('pageshow', open);
    tools.hidden = false;
    pause.addEventListener('click', () => {
      paused = !paused;
      pause.setAttribute('aria-pressed', String(paused));
      pause.textContent = paused ? 'Go on' : 'Pause';
      say(paused ? 'Paused.' : 'Live.', paused ? '' : 'on');
      draw();
    });
    for (const box of $$('[data-kind]', tools)) {
      const set = () => feed.classList.toggle('hide-' + box.dataset.kind, !box.checked);
      box.addEventListener('change', set);
      set();
    }
    open();
  }

  // Search as you type: the form's answer replaces the list; an answer that comes too late is dropped.
  for (const form of $$('form[data-live]')) {
    const target = $(form.dataset.live);
    let timer = 0, asked = null;
    const ask = async () => {
      const q = new URLSearchParams();
      for (const [k, v] of new FormData(form)) if (v) q.append(k, v);
      const url = form.getAttribute('action') + (q.size ? '?' + q : '');
      if (asked) asked.abort();
      asked = new AbortController();
      q.append('part', '1');
      try {
        const r = await fetch(form.getAttribute('action') + '?' + q, { signal: asked.signal });
        if (!r.ok) { form.submit(); return; }
        const text = await r.text();
        target.innerHTML = text;
        history.replaceState(null, '', url);
      } catch (e) {
        if (e.name !== 'AbortError') target.setAttribute('aria-busy', 'false');
      }
    };
    form.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
    form.addEventListener('submit', e => { e.preventDefault(); clearTimeout(timer); ask(); });
  }

  // A choice that needs no button.
  for (const s of $$('select[data-auto]')) {
    if (s.form.hasAttribute('data-live')) continue;
    s.addEventListener('change', () => s.form.requestSubmit());
  }

  // Parts that take longer than the page.
  for (const part of $$('[data-load]')) {
    fetch(part.dataset.load).then(r => r.ok ? r.text() : Promise.reject(r.status)).then(
      text => { part.innerHTML = text; part.setAttribute('aria-busy', 'false'); },
      () => { part.setAttribute('aria-busy', 'false'); });
  }

  // What was "just now" is not for long.
  setInterval(() => {
    for (const t of $$('time[datetime]')) {
      const min = Math.floor((Date.now() - Date.parse(t.dateTime)) / 60000);
      if (min > 0 && min < 60 && / min ago$|^just now$/.test(t.textContent)) t.textContent = min + ' min ago';
    }
  }, 20000);

  // Keys: "/" searches, j and k or the arrows go through a list, Enter follows, Escape leaves a field.
  const stops = () => $$('[data-list] > li').filter(li => li.offsetParent).map(li => $('a[href], summary', li)).filter(Boolean);
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const field = e.target.closest('input, select, textarea');
    if (field) {
      if (e.key === 'Escape') field.blur();
      if (!(e.key === 'ArrowDown' && field.type === 'search')) return;
    }
    if (e.key === '/') {
      const find = $('main input[type="search"]') || $('[data-find]');
      find.focus();
      find.select();
      e.preventDefault();
      return;
    }
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[e.key];
    if (!step) return;
    const all = stops(), at = all.findIndex(a => a === document.activeElement || a.closest('li').contains(document.activeElement));
    const arrow = e.key.startsWith('Arrow');
    if (!all.length || arrow && at < 0 && !field) return; // arrows scroll until a list is entered
    const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
    e.preventDefault();
  });
})();

// SPDX-License-Identifier: MIT
// The page: it reads the live data, and hands it to the cards of the devices.
import { el, fixed } from './parts.js'
import { HeadCard } from './head.js'
import { BeltCard } from './belt.js'
import { ForceCard } from './force.js'
import { GripCard } from './grip.js'
import { FeaturesCard } from './features.js'
import { ValuesCard } from './values.js'

const FAMILIES = { bose: HeadCard, feelspace: BeltCard, activ5: ForceCard, fjorden: GripCard, obvious: FeaturesCard }
const find = id => document.getElementById(id)
const cards = new Map()
const counts = new Map()
let gateway = {}
let token = sessionStorage.getItem('token') || ''

const headers = more => ({ ...more, ...(token && { Authorization: `Bearer ${token}` }) })
const canCommand = () => Boolean(gateway.commands && token)

function tell(text) {
  find('message').textContent = text
  find('message').hidden = !text
}

// ---- Commands ----

async function send(device, actions) {
  try {
    const response = await fetch('set', { method: 'POST', headers: headers({ 'Content-Type': 'application/json' }),
      body: JSON.stringify({ device: device.key, actions }) })
    const answer = await response.json()
    tell(answer.status === 'ok' ? '' : `${device.name || device.address}: ${answer.error}`)
  } catch {
    tell('The gateway did not respond to the command.')
  }
}

// ---- What comes ----

function describe(device) {
  let card = cards.get(device.key)
  if (!card) {
    card = new (FAMILIES[device.family] || ValuesCard)(device, send)
    cards.set(device.key, card)
    const after = [...cards.keys()].sort().find(key => key > device.key)
    find('devices').insertBefore(card.element, after ? cards.get(after).element : null)
  }
  card.describe(device, canCommand())
  find('empty').hidden = cards.size > 0
}

function forget(key) {
  cards.get(key)?.element.remove()
  cards.delete(key)
  find('empty').hidden = cards.size > 0
}

/** A device file may call its events like the page's own messages: these have no address, or a key beside it. */
const isOwn = event => event.address === undefined || event.key === `${event.address}/${event.address_type}`

function take(event) {
  if (isOwn(event)) return learn(event)
  const card = cards.get(`${event.address}/${event.address_type}`)
  if (!card) return
  if (event.event === 'sample') return card.sample(event)
  if (event.battery_percent !== undefined) card.charge(event.battery_percent)
  if (event.event === 'firmware_check') card.firmware(event)
  card.event(event)
  card.remember(event)
}

function learn(event) {
  switch (event.event) {
    case 'gateway':
      gateway = event
      for (const key of [...cards.keys()]) if (!event.devices.includes(key)) forget(key)
      find('token-form').hidden = !event.commands
      showLock()
      showRadios(event.waiting ?? [])
      return show('live', 'Live')
    case 'device': return describe(event)
    case 'state': return cards.get(event.key)?.state(event.state)
    case 'forgotten': return forget(event.key)
    case 'status': return showLinks(event)
    case 'radios': return showRadios(event.waiting)
  }
}

function showRadios(waiting) {
  find('radios').textContent = waiting.join('; ')
  find('radios').hidden = waiting.length === 0
}

// ---- Connections ----

const level = rssi => rssi === null ? 0 : rssi >= -55 ? 4 : rssi >= -67 ? 3 : rssi >= -80 ? 2 : 1

function showLinks({ time, links, browsers, dropped_frames: dropped }) {
  find('links').hidden = links.length === 0
  const now = Date.parse(time)
  find('links').querySelector('tbody').replaceChildren(...links.map(link => {
    const before = counts.get(link.key)
    const rate = before && now > before.now ? Math.max(0, link.samples - before.samples) * 1000 / (now - before.now) : 0
    counts.set(link.key, { now, samples: link.samples })
    const card = cards.get(link.key)
    const device = card?.device
    card?.charge(link.battery_percent ?? undefined)
    const lost = link.dropped + link.malformed
    // A signal from before says nothing of a device that is not connected.
    const signal = link.connected ? link.rssi_dbm : null
    const cell = (name, text, extra = '') => el('td', { class: `number ${extra}`, 'data-name': name, text })
    return el('tr', { 'data-key': link.key },
      el('th', { scope: 'row', text: device?.name || link.key }),
      el('td', { text: link.connected ? 'connected' : 'not connected' }),
      el('td', {}, el('span', { class: 'bars', 'data-level': level(signal), 'aria-hidden': 'true' },
        el('i'), el('i'), el('i'), el('i')), signal === null ? '–' : `${signal} dBm`),
      cell('rate', `${fixed(rate, 1)} Hz`), cell('lost', String(lost), lost ? 'lost' : ''),
      cell('battery', link.battery_percent === null ? '–' : `${link.battery_percent} %`),
      cell('reconnected', `${link.reconnections}`))
  }))
  find('footer').textContent = `Tendon ${gateway.version} · ${browsers} ${browsers === 1 ? 'browser' : 'browsers'} · ` +
    `${dropped} messages dropped for slow browsers`
}

// ---- The stream ----

function show(state, text) {
  find('connection').dataset.state = state
  find('connection').textContent = text
}

let live = null
let isPaused = false

/** Server-Sent Events through fetch, because EventSource cannot send the token. */
async function read() {
  const response = await fetch('events', { headers: headers(), cache: 'no-store' })
  if (response.status === 401) throw new Error('token')
  if (!response.ok) throw new Error((await response.json()).error)
  tell('')
  if (isPaused) return response.body.cancel()
  const reader = live = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const messages = (text + value).split('\n\n')
      text = messages.pop()
      for (const message of messages) if (message.startsWith('data: ')) take(JSON.parse(message.slice(6)))
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

let wake = () => {}
/** Milliseconds, or until it is woken. */
const pause = time => new Promise(resolve => {
  wake = resolve
  if (time) setTimeout(resolve, time)
})

async function run() {
  for (let failures = 0; ; failures++) {
    while (isPaused) {
      show('paused', 'Paused')
      await pause()
    }
    let wait = Math.min(10000, 500 * 2 ** failures)
    try {
      await read()
      failures = 0
      wait = 500
    } catch (error) {
      if (error.message === 'token') {
        tell('This gateway needs its token: enter it above.')
        find('token-form').hidden = false
        wait = 60000
      }
    }
    if (isPaused) continue
    show('lost', 'No connection, trying again')
    await pause(wait)
  }
}

function showLock() {
  find('locked').hidden = !gateway.commands || Boolean(token)
  find('off').hidden = gateway.commands !== false
  find('token').placeholder = token ? 'given' : 'not given'
  for (const card of cards.values()) card.describe(card.device, canCommand())
}

/** False if the gateway says that it is another one. A request without a command changes nothing. */
async function isToken(given) {
  const response = await fetch('set', { method: 'POST', body: '{}',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${given}` } }).catch(() => null)
  return response?.status !== 401
}

find('token-form').addEventListener('submit', async event => {
  event.preventDefault()
  const given = find('token').value.trim()
  find('token').value = ''
  const isRight = !given || await isToken(given)
  tell(isRight ? '' : 'This is not the token of the gateway.')
  token = isRight ? given : ''
  sessionStorage.setItem('token', token)
  showLock()
  wake()
})
// What moves by itself can be stopped. All that is known comes again with the next connection.
find('pause').addEventListener('click', () => {
  isPaused = !isPaused
  find('pause').textContent = isPaused ? 'Resume' : 'Pause'
  if (isPaused) live?.cancel().catch(() => {})
  wake()
})
showLock()
find('token-form').hidden = true
// For tests: the same way as what is received.
window.tendon = { take, cards }
run()

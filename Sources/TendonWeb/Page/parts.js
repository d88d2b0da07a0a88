// SPDX-License-Identifier: MIT
// What all parts of the page use: elements, values, commands, the list of the last events.

const SVG = 'http://www.w3.org/2000/svg'

function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'text') node.textContent = value
    else if (name === 'on') for (const [event, action] of Object.entries(value)) node.addEventListener(event, action)
    else if (value === true) node.setAttribute(name, '')
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value)
  }
  node.append(...children)
  return node
}

/** An element of HTML; text of devices only ever becomes text. */
export function el(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children)
}

/** An element of SVG. */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children)
}

/** A row of values with names and units; returns a function that sets one of them. */
export function values(parent, names) {
  const fields = {}
  const list = el('dl', { class: 'values' })
  for (const [key, title, unit] of names) {
    const number = el('span', { text: '–', 'data-value': key })
    fields[key] = number
    list.append(el('div', {}, el('dt', { text: title }), el('dd', {}, number, el('small', { text: unit }))))
  }
  parent.append(list)
  return (key, text) => { if (fields[key].textContent !== text) fields[key].textContent = text }
}

export function fixed(number, decimals) {
  return Number.isFinite(number) ? number.toFixed(decimals).replace(/^-(0(\.0*)?)$/, '$1') : '–'
}

/** Names of actions as words: "goal_reached", "blinkSlow". */
function plain(title) {
  return title.replace(/_/g, ' ').replace(/([a-z])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`)
}

/** An error of the device's own, which its maker's manual explains. */
const code = ({ error, error_number: number }) => error === 'ATT_APPLICATION_ERROR' ? ` (0x${number.toString(16)})` : ''

/** Words for the list of events; null: not worth a line. */
export function sentence(event) {
  const words = name => plain(String(name)).toLowerCase()
  switch (event.event) {
    case 'connected': return 'connected'
    case 'disconnected': return `disconnected: ${words(event.reason)}`
    case 'connect_failed': return `no connection: ${event.text}`
    case 'refused': return `${event.request}: ${event.text}${code(event)}`
    case 'action': return `done: ${words(String(event.action).replace(/^[a-z0-9]+\./, ''))}`
    case 'action_failed': return `failed: ${event.action}: ${event.text}${code(event)}`
    case 'squeeze': return event.state
    case 'grip': return words(event.grip_event) + (event.button ? ` ${event.button}` : '') +
      (event.count > 1 ? ` × ${event.count}` : '')
    case 'gesture': return `gesture: ${words(event.gesture)}`
    case 'button': return `button ${words(event.button)}, ${words(event.press)}`
    case 'mode': return `mode ${words(event.mode)}`
    case 'feature': return `${event.title || 'feature ' + event.feature}: ${words(event.state)}, ${words(event.toggle)}`
    case 'update': return `${words(event.step)}: ${words(event.status)}`
    case 'battery': return `battery ${event.battery_percent} %`
    case 'progress': case 'found': return null
    default: return words(event.event) + (event.text ? `: ${event.text}` : '')
  }
}

const ICON = 'M1 1h17v10H1zM19.5 4h2v4h-2z'

/** One device: its head, its figure, its commands, its last events. */
export class Card {
  constructor(device, send) {
    this.device = device
    this.send = send
    this.title = el('h2')
    this.sub = el('p', { class: 'sub' })
    this.level = svg('rect', { x: 2.5, y: 2.5, height: 7, width: 0, fill: 'currentColor' })
    this.battery = el('span', { class: 'battery', hidden: true },
      svg('svg', { viewBox: '0 0 22 12', 'aria-hidden': 'true' },
        svg('path', { d: ICON, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.2 }), this.level),
      el('span'))
    this.figure = el('div', { class: 'figure' })
    this.body = el('div', { class: 'values-slot' })
    this.commands = el('div', { class: 'commands' })
    this.log = el('ul', { class: 'log', 'aria-label': 'Last events' })
    const id = 'device-' + device.key.replace(/[^A-Za-z0-9]/g, '-')
    this.title.id = id
    this.element = el('article', { class: 'card', 'aria-labelledby': id, 'data-key': device.key,
      'data-family': device.family },
      el('div', { class: 'card-head' }, el('span', { class: 'dot', 'aria-hidden': 'true' }), this.title, this.battery,
        this.sub),
      this.figure, this.body, this.commands, this.log)
    this.draw()
    this.describe(device, false)
  }

  /** The family's drawing; `paint` draws what has changed. */
  draw() { this.figure.remove() }
  paint() {}

  /** Paints with the next picture, once for all that comes before it. */
  redraw() {
    if (this.isWaiting) return
    this.isWaiting = true
    requestAnimationFrame(() => {
      this.isWaiting = false
      this.paint()
    })
  }

  /** A sample, and any other event. */
  sample() {}
  event() {}
  /** All that is known. */
  state() {}

  describe(device, canCommand) {
    const had = JSON.stringify([this.device.commands, this.canCommand])
    this.device = device
    this.canCommand = canCommand
    this.element.classList.toggle('away', !device.connected)
    this.element.dataset.connected = device.connected
    this.charge(device.state.battery_percent ?? null)
    if (had !== JSON.stringify([device.commands, canCommand]) || !this.commands.childElementCount) this.fillCommands()
    this.firmware(device.state)
    this.state(device.state)
  }

  /** Its name, and the line below. */
  entitle() {
    const { name, address, family, state, connected } = this.device
    this.title.textContent = name || address
    this.sub.textContent = [family, name ? address : '', state.firmware && `firmware ${state.firmware}`,
      connected ? '' : 'not connected'].filter(Boolean).join(' · ')
  }

  /** null: the device does not know it; undefined: nothing is said of it. */
  charge(percent) {
    if (percent === undefined) return
    this.battery.hidden = !Number.isFinite(percent)
    if (this.battery.hidden) return
    this.level.setAttribute('width', Math.round(14 * Math.min(100, percent) / 100))
    this.battery.lastChild.textContent = `${percent} %`
    this.battery.title = 'battery'
  }

  /** From the table of the family, the same that Home Assistant gets. */
  fillCommands() {
    this.commands.replaceChildren()
    for (const command of this.device.commands) {
      if (command.kind === 'button') this.addButton(command.title, command.actions)
      else if (command.kind === 'choice') this.addChoice(command)
      else if (command.kind === 'upgrade') this.addUpgrade(command)
      else if (command.kind === 'text') this.addText(command)
      else this.addNumber(command)
    }
    this.addCommands()
  }
  addCommands() {}

  /** `actions`: what is sent, or a function that returns it. */
  addButton(title, actions, parent = this.commands) {
    const click = () => this.send(this.device, typeof actions === 'function' ? actions() : actions)
    const button = el('button', { type: 'button', text: plain(title), disabled: !this.canCommand, on: { click } })
    parent.append(button)
    return button
  }

  /** A button that is there while there is newer firmware. */
  addUpgrade(command) {
    this.upgrade = this.addButton('', command.actions)
    this.firmware(this.device.state)
  }

  /** What the device has, and what is newer. */
  firmware({ firmware, available }) {
    Object.assign(this.device.state, { firmware, available })
    this.entitle()
    if (!this.upgrade) return
    this.upgrade.hidden = !available || available === firmware
    this.upgrade.textContent = `Upgrade to ${available}`
  }

  addChoice(command) {
    // Moving through the list sends nothing: a belt is switched off by one of its modes.
    const select = el('select', { disabled: !this.canCommand },
      ...command.options.map(option => el('option', { text: option })))
    this.choice = select
    const title = plain(command.title)
    const group = el('div', { class: 'choice' }, el('label', {}, title, select))
    this.commands.append(group)
    const button = this.addButton('Set', () => ({ [command.action]: select.value }), group)
    button.setAttribute('aria-label', `Set ${title.toLowerCase()}`)
  }

  addText(command) {
    const title = plain(command.title)
    const input = el('input', { type: 'text', maxlength: command.most, disabled: !this.canCommand,
      ...(command.pattern ? { pattern: command.pattern } : {}) })
    const group = el('div', { class: 'choice' }, el('label', {}, title, input))
    this.commands.append(group)
    const send = () => input.reportValidity() && this.send(this.device, { [command.action]: input.value })
    const button = el('button', { type: 'button', text: 'Send', disabled: !this.canCommand, on: { click: send } })
    button.setAttribute('aria-label', `Send ${title.toLowerCase()}`)
    group.append(button)
  }

  addNumber(command) {
    const title = plain(command.title)
    const shown = el('output')
    // Of too many places a slider has no single one.
    const places = (command.to - command.from) / command.step
    const input = el('input', { type: places > 1000 ? 'number' : 'range', min: command.from, max: command.to,
      step: command.step, value: Math.max(command.from, Math.min(command.to, places > 1000 ? 0 : command.from)),
      'aria-label': title, disabled: !this.canCommand, on: { input: () => show() } })
    const unit = command.unit === '°' ? '°' : ` ${command.unit || ''}`
    const spoken = command.unit === '°' ? ' degrees' : unit
    const show = () => {
      shown.textContent = input.value + unit
      input.setAttribute('aria-valuetext', input.value + spoken)
    }
    const group = el('div', { class: 'range' }, el('span', { text: title, 'aria-hidden': 'true' }), input, shown)
    show()
    this.commands.append(group)
    const button = this.addButton('Send', () => ({ [command.action]: Number(input.value) }), group)
    button.setAttribute('aria-label', `Send ${title.toLowerCase()}`)
  }

  remember(event) {
    const text = sentence(event)
    if (text === null) return
    const time = new Date(event.time).toLocaleTimeString([], { hour12: false })
    this.log.prepend(el('li', {}, el('time', { text: time }), el('span', { text, title: text })))
    while (this.log.childElementCount > 3) this.log.lastChild.remove()
  }
}

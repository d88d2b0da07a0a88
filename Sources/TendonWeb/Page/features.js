// SPDX-License-Identifier: MIT
// Obvious: the features with their switches, and the progress of a transfer.
import { Card, el } from './parts.js'

export class FeaturesCard extends Card {
  draw() {
    this.figure.classList.add('stack')
    this.none = el('p', { class: 'none',
      text: 'No feature is known. Name the product and its features: tendon run --product ID --features 16,19' })
    this.list = el('ul', { class: 'features', 'aria-label': 'Features' })
    this.bar = el('progress', { max: 100, value: 0 })
    this.transfer = el('div', { class: 'transfer', hidden: true }, el('span'), this.bar)
    this.figure.append(this.none, this.list, this.transfer)
    this.features = {}
  }

  state(state) {
    this.features = { ...this.features, ...state.features }
    this.show()
    if (state.progress) this.progress(state.progress)
  }

  event(event) {
    if (event.event === 'feature') {
      this.features[event.feature] = { ...this.features[event.feature], ...event }
      this.device.state.features = this.features
      this.show()
    } else if (event.event === 'progress') {
      this.progress(event)
    } else if (event.event === 'disconnected' || event.event === 'update') {
      delete this.device.state.progress
      this.transfer.hidden = true
    }
  }

  progress({ what, percent, time_left_s: left }) {
    const words = `${what}: ${percent} %` + (Number.isFinite(left) ? `, ${Math.ceil(left)} s left` : '')
    this.transfer.hidden = false
    this.transfer.firstChild.textContent = words
    this.bar.value = percent
    this.bar.setAttribute('aria-label', what)
    if (percent >= 100) setTimeout(() => { this.transfer.hidden = true }, 3000)
  }

  show() {
    const numbers = Object.keys(this.features).sort((a, b) => a - b)
    this.none.hidden = numbers.length > 0
    // A button that is in use keeps its focus.
    const focused = document.activeElement && document.activeElement.dataset.feature
    this.list.replaceChildren(...numbers.map(number => {
      const feature = this.features[number]
      const title = feature.title || `Feature ${number}`
      const isOn = feature.toggle === 'activated'
      const row = el('li', {}, el('span', { text: title }),
        el('span', { class: `chip${feature.state === 'enabled' ? ' on' : ''}`, text: feature.state }))
      // One that is not bought has a switch later, or none.
      if (feature.state === 'enabled' && feature.toggle === 'unsupported') return row
      const shown = isOn ? 'On' : 'Off'
      const button = this.addButton(shown, { toggle: [number, isOn ? 'off' : 'on'] }, row)
      button.dataset.feature = number
      button.setAttribute('role', 'switch')
      button.setAttribute('aria-checked', String(isOn))
      // With what the button shows, so that it can be said to a program that is controlled by voice.
      button.setAttribute('aria-label', `${title}: ${shown}`)
      button.disabled = !this.canCommand || feature.state !== 'enabled'
      return row
    }))
    if (focused) this.list.querySelector(`[data-feature="${focused}"]`)?.focus()
  }
}

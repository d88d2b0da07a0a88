/* SPDX-License-Identifier: MIT */
/* Definitions for tests, and their values as one line of text. */
#ifndef DEFINITION_FIXTURE_H
#define DEFINITION_FIXTURE_H

#include "test_bytes.h"

#include "tendon/definition.h"

/* Parses from a block of exactly its size. Single quotes stand for double ones. */
tendon_status parse_text(const char *text, tendon_definition *out, tendon_definition_mistake *mistake);
/* The same of text that is right: NULL would be a failure of the test. Static memory, until the next call. */
const tendon_definition *parsed(const char *text);
/* A device with one characteristic, whose layout "value" has these fields. */
const tendon_definition *with_fields(const char *fields);

/* "a=1 b=[1,2] c=[{d=x}]" of event 0, or of another; "!STATUS at OFFSET" of a value with a mistake. */
const char *described(const tendon_definition *definition, const char *hex);
/* The same, with the memory of a device. */
const char *described_with(const tendon_definition *definition, tendon_described_rates *rates, const char *hex);
const char *described_event(const tendon_definition *definition, size_t event, const char *hex);

#endif

/* SPDX-License-Identifier: MIT */
/* The installed headers in C++: every one of them, and a call with a C++ type behind it. */
#include <array>
#include <cstdint>
#include <string_view>
#include <tendon/tendon.h>
#if __has_include(<tendon/bluez.h>)
#include <tendon/bluez.h>
#endif

int main() {
    const std::array<std::uint8_t, 3> flags{2, 1, 6};
    tendon_uuid uuid = tendon_uuid_from_u16(0x180D);
    /* No service in the advertisement, and a version that is the header's. */
    return tendon_ad_has_uuid(flags.data(), flags.size(), &uuid) ||
           tendon_version() != std::string_view(TENDON_VERSION);
}

/* SPDX-License-Identifier: MIT */
/* Runs a target over files and folders of inputs, for compilers without libFuzzer. Exit status 0: no input crashed it.
 */
#include "fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

static unsigned long inputs;

static int replay_file(const char *path) {
    static uint8_t buffer[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    size_t size = fread(buffer, 1, sizeof(buffer), file);
    fclose(file);
    uint8_t *exact = malloc(size);
    if (size > 0) {
        memcpy(exact, buffer, size);
    }
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    inputs++;
    return 0;
}

static int replay(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(info.st_mode)) {
        return replay_file(path);
    }
    DIR *folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        return 1;
    }
    int failed = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char child[4096];
        if (entry->d_name[0] != '.' &&
            snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) < (int)sizeof(child)) {
            failed |= replay_file(child);
        }
    }
    closedir(folder);
    return failed;
}

int main(int count, char **arguments) {
    int failed = count < 2;
    for (int i = 1; i < count; i++) {
        failed |= replay(arguments[i]);
    }
    printf("%lu inputs\n", inputs);
    return failed || inputs == 0;
}

// The end of a step with a loss scale: what `contrib.amp.LossScaler.has_overflow` does on the host.
//
// state: LOSS_SCALE of the current step, that of the NEXT step, CLEAN steps since the last change,
// DIVISOR of the gradients, OVERFLOW of this step (0 or 1), and SKIPPED steps. ``scale`` is a copy
// of LOSS_SCALE. ``written`` is the word on the host that gets the outcome of the step.
enum { LOSS_SCALE, NEXT, CLEAN, DIVISOR, OVERFLOW_, SKIPPED };

struct Settings {
    unsigned long long written[1];
    unsigned step, divides;  // divides: 0 as before, 1 by the current loss scale, 2 by 1
    float length, largest, smallest;
};

extern "C" __global__ void end_step(
    const __grid_constant__ Settings settings, float *finite, float *state, float *scale
) {
    const bool overflows = *finite == 0;
    *finite = 1;  // for the test of the next step
    if (settings.divides) state[DIVISOR] = settings.divides == 1 ? state[LOSS_SCALE] : 1;
    const float now = state[NEXT];
    float next = now, clean = overflows ? 0 : state[CLEAN] + 1;
    if (overflows) {
        next = now / 2 > settings.smallest ? now / 2 : settings.smallest;
        state[SKIPPED] += 1;
    } else if (clean == settings.length) {
        next = now * 2 < settings.largest ? now * 2 : settings.largest;
        clean = 0;
    }
    state[LOSS_SCALE] = *scale = now;
    state[NEXT] = next;
    state[CLEAN] = clean;
    state[OVERFLOW_] = overflows;
    *(volatile unsigned *)settings.written[0] = 2 * settings.step + overflows;
}

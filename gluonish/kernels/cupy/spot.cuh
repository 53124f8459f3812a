// Indices of an element, or a window: its row, and its index along each of three axes.
struct Index3 {
    Index row;
    int at0, at1, at2;

    __device__ Index3(Index number, int count0, int count1, int count2) {
        Index line = number / count2;
        at2 = (int)(number - line * count2);
        Index plane = line / count1;
        at1 = (int)(line - plane * count1);
        row = plane / count0;
        at0 = (int)(plane - row * count0);
    }
};

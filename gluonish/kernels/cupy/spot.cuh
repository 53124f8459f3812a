// Where an element, or a window, lies: in which row of three axes, and where on each of them.
struct Spot {
    Index row;
    int at0, at1, at2;

    __device__ Spot(Index number, int count0, int count1, int count2) {
        Index line = number / count2;
        at2 = (int)(number - line * count2);
        Index plane = line / count1;
        at1 = (int)(line - plane * count1);
        row = plane / count0;
        at0 = (int)(plane - row * count0);
    }
};
